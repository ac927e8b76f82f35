"""Which skill of several is meant: of a repository, an archive or a folder.

A skill is named by its own name, which listings show, or by that of its folder; its own name wins.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from skillyard.base.errors import InvalidInput, SkillyardError, SourceFailed
from skillyard.base.text import folder_name
from skillyard.engine.skill import Skill
from skillyard.install.copies.file_paths import name_in_shell, shown_path
from skillyard.install.copies.lockfile import LockedSkill
from skillyard.install.copies.placement import check_files
from skillyard.install.sources.repository import PLACES, SKILL_FILE, skill_folder

MAX_READ = 5_000
"""Skills that are read for their names; the largest known collection has 1,700."""
MAX_REQUESTED = 500
"""The same where each is a request of its own."""

MAX_NAMED = 8
"""Skills that an error lists."""
INTERNAL_VARIABLE = "INSTALL_INTERNAL_SKILLS"
"""Variable of the common installer: ``1`` or ``true`` offers internal skills too."""


class SkillChoice(NamedTuple):
    """What is said about which skill is meant; without anything the only one is."""

    skill: str = ""
    """Its name, or that of its folder."""
    path: str | None = None
    """Its folder, or a folder that it lies in; empty for the root."""


ONLY_ONE = SkillChoice()


class SeveralSkills(InvalidInput):
    """A source that holds several skills, of which none was named."""

    def __init__(self, place: str, skills: Mapping[str, str], spelled: Callable[[str], str]):
        named = _shown(skills, spelled)
        super().__init__(f"{place} {len(skills)} skills; take --all, or name one: {named}")
        self.skills = skills
        """Their descriptions by name."""


def _shown(names: Iterable[str], spelled: Callable[[str], str]) -> str:
    """Return the first of some skills as a user writes them."""
    some = [shown_path(spelled(name)) for name in islice(names, MAX_NAMED + 1)]
    return ", ".join([*some[:MAX_NAMED], *("…" for _ in some[MAX_NAMED:])])


def choose_folder(
    folders: Sequence[str],
    choice: SkillChoice,
    *,
    shown: str,
    name: str,
    spelled: Callable[[str], str],
    read: Callable[[Sequence[str]], Mapping[str, bytes]],
) -> str:
    """Return the folder of the skill that is meant; ``""`` is the root.

    ``folders`` are all that hold a SKILL.md, ``shown`` and ``name`` are those of the whole,
    ``spelled`` returns how a user writes the skill of a name, and ``read`` the SKILL.md of some
    folders. Raises SourceFailed without such a skill, InvalidInput with several.
    """
    path = (choice.path or "").strip("/")
    if choice.path is not None and not choice.skill and path in folders:
        return path
    below = [each for each in folders if not path or each.startswith(f"{path}/")]
    if choice.skill:
        likely = skill_folder(below, name, choice.skill)
        for some in ([likely] if likely is not None else [], below[:MAX_READ]):
            texts = read(some)
            named = folders_named(texts, choice.skill)
            usual = [each for each in named if each.rpartition("/")[0] in PLACES]
            named = usual if len(usual) == 1 else named
            if len({texts[each] for each in named}) > 1:
                paths = ", ".join(shown_path(each or ".") for each in named[:MAX_NAMED])
                what = f"{shown} holds {len(named)} skills {shown_path(choice.skill)!r}"
                raise InvalidInput(f"{what}; name the folder of one: {paths}")
            if named:
                return min(named, key=lambda each: (each.count("/"), each))
        if likely is not None:
            return likely
    place = f"{shown} holds" if not path else f"{shown} holds below {shown_path(path)}"
    texts = read(below[: MAX_NAMED if choice.skill else MAX_READ])
    skills = {each: _skill_in(texts, each) for each in below}
    shows_internal = os.environ.get(INTERNAL_VARIABLE) in ("1", "true")  # as for `npx skills`
    listed = [
        (each, skill)
        for each, skill in skills.items()
        if choice.skill or skill is None or not skill.internal or shows_internal
    ]
    if len(listed) == 1 and not choice.skill:
        return listed[0][0]
    if not listed:
        raise SourceFailed(
            "not_found", f"{place} no SKILL.md", hint="check the path; an internal skill is named"
        )
    rows = {
        (each.rpartition("/")[2] or name if skill is None else skill.name): (
            "" if skill is None else skill.description
        )
        for each, skill in listed
    }
    if choice.skill:
        raise SourceFailed(
            "not_found",
            f"{place} no skill {shown_path(choice.skill)!r}",
            hint=f"it holds {_shown(rows, spelled)}",
        )
    raise SeveralSkills(place, rows, spelled)


def folders_named(texts: Mapping[str, bytes], name: str) -> list[str]:
    """Return the folders whose SKILL.md, given by folder, has the name of a skill."""
    own = {folder: skill.name for folder in texts if (skill := _skill_in(texts, folder))}
    exact = [folder for folder in own if own[folder] == name]
    called = folder_name(name)
    return exact or [each for each in own if folder_name(own[each]) == called]


def _skill_in(texts: Mapping[str, bytes], folder: str) -> Skill | None:
    """Return the skill in the SKILL.md of a folder; None where it is not valid."""
    try:
        return check_files({SKILL_FILE: texts[folder]}, folder)
    except (SkillyardError, KeyError):
        return None


class SkillGone(SourceFailed):
    """A source was read whole, and its newest version has a skill no longer."""

    def __init__(self, locked: LockedSkill, what: str, found: Sequence[str] = ()) -> None:
        remove = f"`skillyard remove {name_in_shell(locked.name)}`"
        some = ", ".join(map(shown_path, found[:MAX_NAMED]))
        super().__init__(
            "not_found",
            what,
            hint=f"what is installed stays; {remove} drops it"
            + (f"; then add the one that is meant: {some}" if some else ""),
        )


def folders_called(folders: Sequence[str], locked: LockedSkill, path: str) -> list[str]:
    """Return the folders that are called as the skill, or as its folder ``path`` was."""
    names = {path.rpartition("/")[2], folder_name(locked.name)} - {""}
    return [each for each in folders if each.rpartition("/")[2] in names]


def only_folder(found: Sequence[str], locked: LockedSkill, shown: str, commit: str) -> str:
    """Return the one folder in which the skill is now. Raises SkillGone."""
    if len(found) == 1:
        return found[0]
    since = f"between the commits {locked.commit[:12]} and" if locked.commit else "by commit"
    raise SkillGone(locked, f"gone from {shown} {since} {commit[:12]}", found)
