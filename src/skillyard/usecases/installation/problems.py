"""Why one skill is not as it should be, and what to do: for commands that go on with the others."""

from __future__ import annotations

from shlex import quote
from typing import NamedTuple

from skillyard.errors import SkillError, SkillyardError
from skillyard.remote.sources.protocol import SourceFailed
from skillyard.shapes import installation as shapes
from skillyard.shapes.encoder import from_attributes
from skillyard.text import clean_line, shorten
from skillyard.usecases.installation.project import (
    BEHIND,
    EDITED,
    INTERRUPTED,
    MISSING,
    InstalledSkill,
)

__all__ = ["Problem", "is_unreachable", "name_in_shell", "problem_of", "problem_of_state"]

_ANSWERED = ("not_found", "bad_answer", "too_large", "refused")
"""Codes of sources that answered: asking again does not help."""


class Problem(NamedTuple):
    """One problem of one skill."""

    code: str
    message: str
    hint: str = ""
    path: str = ""

    def document(self) -> shapes.SkillProblem:
        """Return the problem as documents show it."""
        return from_attributes(shapes.SkillProblem, self)


def problem_of(error: SkillyardError) -> Problem:
    """Return the problem that an error stands for."""
    if isinstance(error, SkillError):
        path = error.path if error.line is None else f"{error.path}:{error.line}"
        return Problem(error.code, error.message, error.hint, path)
    if isinstance(error, SourceFailed):
        return Problem(error.code, error.what, error.hint)
    return Problem("invalid_input", str(error))


def is_unreachable(error: SkillyardError) -> bool:
    """True for a source that did not answer, so that trying later may help."""
    return isinstance(error, SourceFailed) and error.code not in _ANSWERED


def name_in_shell(name: str) -> str:
    """Return the name of an entry as a hint prints it in a command."""
    return quote(shorten(clean_line(name), 80))


_AWAY = "move what is there away, then say `skillyard update {}`, which installs the newest"
_STATES = {
    MISSING: ("the folder is missing", "`skillyard sync` installs it"),
    BEHIND: ("the lock names another version", "`skillyard sync` installs that one"),
    INTERRUPTED: ("a run was stopped here", "`skillyard sync` completes it"),
    EDITED: (
        "the folder is not what was installed",
        "keep your changes elsewhere, remove the folder, and say `skillyard sync`",
    ),
}


def problem_of_state(skill: InstalledSkill) -> Problem:
    """Return the problem of a skill whose folders are not what the lock says."""
    away = _AWAY.format(name_in_shell(skill.entry.name))
    message, hint = _STATES.get(skill.state, (skill.problem, away))
    if skill.problem and skill.problem != message:
        message = f"{message}: {skill.problem}"
    bad = [copy for copy in skill.copies if copy.state == skill.state]
    place = bad[0].folder if bad else skill.folders[0]
    hint = next((copy.hint for copy in bad if copy.hint), hint)
    return Problem(f"skill_{skill.state}", message, hint, place)
