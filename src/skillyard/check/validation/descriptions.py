"""Rules about ``description``. Source: agentskills.io specification, field ``description``."""

from __future__ import annotations

from collections.abc import Iterator

from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.check.validation.rule import Finding, define_rule
from skillyard.check.validation.view import Kind, View

_SOURCE = "agentskills.io: description"
_HINT = "add a line such as `description: What the skill does and when to use it.`"
_MAX = DEFAULT_LIMITS.description_warn_chars


@define_rule(
    "description_missing",
    "The required field description is not there",
    _SOURCE,
    _HINT,
    kinds=Kind.SKILLS,
)
def _description_missing(view: View) -> Iterator[Finding]:
    if view.lacks("description"):
        yield Finding("description is missing", 1)


@define_rule(
    "description_empty", "The field description is blank", _SOURCE, _HINT, kinds=Kind.SKILLS
)
def _description_empty(view: View) -> Iterator[Finding]:
    if view.description is not None and not view.description.strip():
        yield Finding("description is empty", view.line("description"))


@define_rule(
    "description_not_string",
    "The field description is a list or a mapping",
    _SOURCE,
    "write `description:` followed by text",
    kinds=Kind.SKILLS,
)
def _description_not_string(view: View) -> Iterator[Finding]:
    if view.description is None and isinstance(view.node("description"), list | dict):
        yield Finding("description must be text, not a list or mapping", view.line("description"))


@define_rule(
    "description_too_long",
    f"The description is longer than {_MAX:,} characters",
    _SOURCE,
    "say what it does and when to use it; details belong in the body",
    kinds=Kind.SKILLS,
)
def _description_too_long(view: View) -> Iterator[Finding]:
    length = len(view.description or "")
    if length > _MAX:
        yield Finding(
            f"the description has {length:,} characters; {_MAX:,} are allowed",
            view.line("description"),
        )


CHECKS = (
    _description_missing,
    _description_empty,
    _description_not_string,
    _description_too_long,
)
