"""Why one skill is not as it should be, and what to do: for commands that go on with the others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from skillyard.base.errors import SkillError, SkillyardError, SourceFailed
from skillyard.base.shapes.installation import LockedSkillState, SkillProblem
from skillyard.install.copies.file_paths import name_in_shell, shown_path
from skillyard.install.copies.lockfile import LockedSkill
from skillyard.install.operations.project import InstalledSkill
from skillyard.install.origins.choice import SkillGone

GOOD = frozenset(
    {
        *("current", "unpinned", "linked", "installed", "updated", "pinned"),
        *("removed", "unlinked", "planned"),
    }
)
"""States of which there is nothing to do."""
LINK_OUTSIDE = "skill_link_outside"
"""The code of a link that came with a clone and leads out of it."""
_ANSWERED = ("not_found", "bad_answer", "too_large", "refused")
"""Codes of sources that answered: asking again does not help."""


def states_of(skills: Iterable[LockedSkillState]) -> set[str]:
    """Return the states that some skills have."""
    return {skill.state for skill in skills}


def only_unreachable(skills: Iterable[LockedSkillState]) -> bool:
    """True where the only failures are sources that did not answer."""
    return states_of(skills) - GOOD == {"unreachable"}


def problem(code: str, message: str, hint: str = "", path: str = "") -> SkillProblem:
    """Return a problem of one skill."""
    return SkillProblem(code=code, message=message, hint=hint, path=path)


def failure_of(error: SkillyardError, skill: InstalledSkill) -> tuple[str, SkillProblem]:
    """Return the state and the problem of a skill that an error stands for.

    ``unreachable`` is a source that did not answer, so that trying later may help.
    """
    state, failure = "refused", problem("invalid_input", str(error))
    if isinstance(error, SkillError):
        path = error.path if error.line is None else f"{error.path}:{error.line}"
        failure = problem(error.code, error.message, error.hint, path)
    elif isinstance(error, SourceFailed):
        is_gone = isinstance(error, SkillGone)
        state = "gone" if is_gone else "refused" if error.code in _ANSWERED else "unreachable"
        failure = problem("skill_gone" if is_gone else error.code, error.what, error.hint)
    return state, replace(failure, hint=with_option(failure.hint, skill.option))


def moved_to(skill: InstalledSkill, new: LockedSkill) -> SkillProblem | None:
    """Return where the newest version of a skill is, if that is another folder or repository."""
    is_renamed = new.source != skill.entry.source
    if new.skill_path == skill.entry.skill_path and not is_renamed:
        return None
    hint = f"`skillyard update {name_in_shell(new.name)}` takes it from there"
    folder = (new.skill_path or "").rpartition("/")[0] or "the root of its repository"
    folder = f"{new.source}, {folder}" if is_renamed else folder
    hint = with_option(hint, skill.option)
    return problem("skill_moved", f"moved to {shown_path(folder)}", hint)


def with_option(hint: str, option: str) -> str:
    """Return a hint whose commands mean the same project, by an option with a space before it."""
    if option:  # what is added for the user is added for hosts
        place = f" --agent HOST{option}" if option == " --global" else option
        hint = hint.replace(" --into DIR`", f"{place}`")
    return re.sub("`skillyard (?:sync|update|remove)", lambda match: match[0] + option, hint)


_AWAY = "move what is there away, then say `skillyard update {name}`, which installs the newest"
_STATES = {
    "missing": ("the folder is missing", "`skillyard sync` installs it"),
    "behind": ("the lock names another version", "`skillyard sync` installs that one"),
    "interrupted": ("a run was stopped here", "`skillyard sync` completes it"),
    "edited": (
        "the folder is not what was installed",
        "keep your changes elsewhere, remove the folder, and say `skillyard sync`",
    ),
    "not_comparable": (
        "nothing says whether it was edited",
        "`skillyard update {name}` compares it with its source, and pins it",
    ),
}


def problem_of_state(skill: InstalledSkill) -> SkillProblem:
    """Return the problem of a skill whose folders are not what the lock says."""
    message, hint = _STATES.get(skill.state, (skill.problem, _AWAY))
    hint = hint.format(name=name_in_shell(skill.entry.name))
    if skill.problem and skill.problem != message:
        message = f"{message}: {skill.problem}"
    bad = [copy for copy in skill.copies if copy.state == skill.state]
    place = bad[0].folder if bad else skill.folders[0]
    hint = next((copy.hint for copy in bad if copy.hint), hint)
    code = LINK_OUTSIDE if skill.state == "refused" else f"skill_{skill.state}"
    files = next((copy.files for copy in bad), ())
    return replace(problem(code, message, with_option(hint, skill.option), place), files=files)
