"""Rules about ``name``, and about the ``id`` of an Oasis skill.

Source: agentskills.io specification, field ``name``. For letters beyond ASCII, its reference
validator, which allows every Unicode letter and digit. All broken rules are reported together.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator

from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.check.validation.rule import Finding, define_rule, quote
from skillyard.check.validation.view import Kind, View

_SOURCE = "agentskills.io: name"
_HINT = "use small letters, digits and single hyphens, for instance `pdf-forms`"
_MAX = DEFAULT_LIMITS.name_warn_chars
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def _nfkc(name: str) -> str:
    return unicodedata.normalize("NFKC", name)


def _at_name(view: View, message: str, hint: str = "") -> Finding:
    return Finding(message, view.line("name"), (view.name or "")[:80], hint)


@define_rule(
    "name_missing",
    "The required field name is not there",
    _SOURCE,
    "add a line such as `name: my-skill`",
    kinds=Kind.SKILLS,
)
def _name_missing(view: View) -> Iterator[Finding]:
    if view.lacks("name"):
        yield Finding("name is missing", 1)


@define_rule(
    "name_empty",
    "The field name is blank",
    _SOURCE,
    "add a line such as `name: my-skill`",
    kinds=Kind.SKILLS,
)
def _name_empty(view: View) -> Iterator[Finding]:
    if view.name == "":
        yield _at_name(view, "name is empty")


@define_rule(
    "name_not_string",
    "The field name is a list or a mapping",
    _SOURCE,
    "write `name:` followed by text",
    kinds=Kind.SKILLS,
)
def _name_not_string(view: View) -> Iterator[Finding]:
    if view.name is None and isinstance(view.node("name"), list | dict):
        yield _at_name(view, "name must be text, not a list or mapping")


@define_rule(
    "name_too_long",
    f"The name is longer than {_MAX} characters",
    _SOURCE,
    f"shorten it to {_MAX} characters; details belong in the description",
    kinds=Kind.NAMED,
)
def _name_too_long(view: View) -> Iterator[Finding]:
    if view.name and len(view.name) > _MAX:
        yield _at_name(view, f"the name has {len(view.name)} characters; {_MAX} are allowed")


@define_rule(
    "name_not_lowercase", "The name holds capital letters", _SOURCE, _HINT, kinds=Kind.NAMED
)
def _name_not_lowercase(view: View) -> Iterator[Finding]:
    if view.name and view.name != view.name.lower():
        yield _at_name(
            view,
            f"the name {quote(view.name)} holds capital letters",
            f"write {quote(view.name.lower())}",
        )


@define_rule(
    "name_bad_chars",
    "The name holds something other than letters, digits and hyphens",
    _SOURCE,
    _HINT,
    kinds=Kind.NAMED,
)
def _name_bad_chars(view: View) -> Iterator[Finding]:
    bad = sorted({char for char in view.name or "" if char != "-" and not char.isalnum()})
    if bad:
        yield _at_name(view, f"the name holds {', '.join(map(_char_text, bad[:5]))}")


def _char_text(char: str) -> str:
    if char == " ":
        return "a blank"
    return f"U+{ord(char):04X}" if not char.isprintable() else f"'{char}'"


@define_rule(
    "name_edge_hyphen",
    "The name starts or ends with a hyphen",
    _SOURCE,
    "remove the hyphen at the edge",
    kinds=Kind.NAMED,
)
def _name_edge_hyphen(view: View) -> Iterator[Finding]:
    if view.name and (view.name[0] == "-" or view.name[-1] == "-"):
        yield _at_name(view, f"the name {quote(view.name)} starts or ends with a hyphen")


@define_rule(
    "name_double_hyphen",
    "The name holds two hyphens in a row",
    _SOURCE,
    "write one hyphen",
    kinds=Kind.NAMED,
)
def _name_double_hyphen(view: View) -> Iterator[Finding]:
    if view.name and "--" in view.name:
        yield _at_name(view, f"the name {quote(view.name)} holds two hyphens in a row")


@define_rule(
    "name_dir_mismatch",
    "The name is not that of the skill's folder",
    _SOURCE,
    "rename the folder or the skill, so that both are the same",
    kinds=[Kind.FOLDER],
)
def _name_dir_mismatch(view: View) -> Iterator[Finding]:
    if view.name and view.folder is not None and _nfkc(view.folder) != _nfkc(view.name):
        yield _at_name(
            view, f"the name {quote(view.name)} differs from its folder {quote(view.folder)}"
        )


@define_rule(
    "name_not_ascii",
    "The name holds letters beyond a-z",
    _SOURCE,
    "write the name with a-z, 0-9 and hyphens: some hosts accept nothing else",
    kinds=Kind.NAMED,
)
def _name_not_ascii(view: View) -> Iterator[Finding]:
    if view.name and any(char.isalnum() for char in view.name if not char.isascii()):
        yield _at_name(view, f"the name {quote(view.name)} holds letters beyond a-z")


@define_rule(
    "name_file_mismatch",
    "The name is not that of the file below .skills",
    "adk-skill: .skills/**/*.md",
    "name the file after the skill, so that people find it",
    kinds=[Kind.SINGLE],
)
def _name_file_mismatch(view: View) -> Iterator[Finding]:
    stem = os.path.splitext(os.path.basename(view.path))[0]
    if view.name and _nfkc(stem) != _nfkc(view.name):
        yield _at_name(view, f"the name {quote(view.name)} differs from its file {quote(stem)}")


@define_rule(
    "oasis_id_not_folder",
    "The id of an Oasis skill is not the name of its folder",
    "Oasis: SKILL.md format, id",
    "name the folder after the id",
    kinds=[Kind.OASIS],
)
def _oasis_id_not_folder(view: View) -> Iterator[Finding]:
    slug = (view.text("id") or "").strip()
    if slug and view.folder is not None and slug != view.folder:
        yield Finding(
            f"the id {quote(slug)} differs from its folder {quote(view.folder)}",
            view.line("id"),
            found=slug[:80],
        )


@define_rule(
    "oasis_id_not_slug",
    "The id of an Oasis skill is no slug",
    "Oasis: SKILL.md format, id",
    _HINT,
    kinds=[Kind.OASIS],
)
def _oasis_id_not_slug(view: View) -> Iterator[Finding]:
    slug = (view.text("id") or "").strip()
    if slug and not _SLUG.fullmatch(slug):
        yield Finding(f"the id {quote(slug)} is no slug", view.line("id"), found=slug[:80])


CHECKS = (
    _name_missing,
    _name_empty,
    _name_not_string,
    _name_too_long,
    _name_not_lowercase,
    _name_bad_chars,
    _name_edge_hyphen,
    _name_double_hyphen,
    _name_dir_mismatch,
    _name_not_ascii,
    _name_file_mismatch,
    _oasis_id_not_folder,
    _oasis_id_not_slug,
)
