"""The error tree: kinds, places, texts, and that every error survives pickling."""

from __future__ import annotations

import pickle
import re

import skillyard as sy
from skillyard.base import errors
from skillyard.base.errors import (
    NoStandby,
    ServiceUnavailable,
    StoreConflict,
    StoreRefused,
    StoreSchema,
    StoreUnavailable,
)
from skillyard.errors import EmbedderFailed, SkillError, SkillyardError, SourceFailed
from tests.tables import for_each

ERRORS: list[SkillyardError] = [
    sy.SkillIoError("gone", path="a/SKILL.md", line=3, column=2, hint="look", found="x"),
    sy.MissingField("name is missing", field="name", path="a/SKILL.md", line=1),
    sy.ValidationFailed("two", diagnostics=[sy.Diagnostic("c", "error", "p", "m")], path="p"),
    sy.SkillNotFound("x", ["y", "z"]),
    sy.AmbiguousName("x", ["a", "b"], ["i", "j"]),
    sy.errors.UnknownName("scorer", "x", ["b", "a"]),
    sy.errors.InvalidInput("limit must be an integer"),
    sy.errors.InvalidInput("limit must be an integer", field="limit"),
    EmbedderFailed("http", "is not installed", hint="install it"),
    ServiceUnavailable("http://a/b", "has too much to do", status=429, retry_after_s=2.0),
    StoreUnavailable("sqlite:///a", "the disk is full", hint="make room"),
    StoreConflict("s", "another", key=("t", "", "", "a"), expected=1, found=2),
    StoreSchema("s", "from the future", found=9, known=2),
    NoStandby("s", "none answered", committed=True, generation=7),
    StoreRefused("s", "wrong password"),
    SourceFailed("rate_limited", "has had enough", retry_after_s=120.0, status=403),
]


def test_wrong_use_is_also_what_python_callers_already_catch() -> None:
    assert issubclass(sy.errors.InvalidInput, ValueError)
    assert issubclass(sy.errors.UnknownName, LookupError)
    assert issubclass(sy.SkillNotFound, LookupError)
    assert issubclass(sy.AmbiguousName, LookupError)


@for_each("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_with_all_it_knows(error: SkillyardError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.__dict__ == error.__dict__


@for_each(
    ("error", "text"),
    [
        (SkillError("m"), "m"),
        (SkillError("m", path="p"), "p: m"),
        (SkillError("m", path="p", line=4), "p:4: m"),
        (SkillError("m", path="p", hint="h"), "p: m\nhint: h"),
    ],
)
def test_the_text_of_an_error_begins_with_its_place_and_ends_with_its_hint(
    error: SkillError, text: str
) -> None:
    assert str(error) == text


def test_an_error_turns_into_a_diagnostic_that_loses_nothing() -> None:
    error = SkillError(
        "m", path="p", line=4, column=7, code="yaml_invalid", hint="h", found="f: g: h"
    )
    assert error.diagnostic() == sy.Diagnostic(
        "yaml_invalid", "error", "p", "m", "h", 4, 7, "f: g: h"
    )
    assert error.diagnostic("warning").severity == "warning"


def test_the_drawn_tree_shows_every_error_of_the_module_below_its_parent() -> None:
    drawn = errors.__doc__ or ""
    shown = re.findall(r"(?m)^ *[│├└─ ]*([A-Z]\w+)", drawn.partition("::")[2].partition("``")[0])
    assert shown.count("SkillyardError") == 1
    kinds = {name for name, kind in vars(errors).items() if _is_error(kind, errors.__name__)}
    assert kinds == set(shown)


def _is_error(kind: object, module: str) -> bool:
    return isinstance(kind, type) and issubclass(kind, Exception) and kind.__module__ == module
