"""Which skill of several is meant: of a repository, an archive or a folder.

A skill is named by its own name, which listings show, or by that of its folder; its own name wins.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from skillyard.base.errors import InvalidInput, SkillyardError, SourceFailed
from skillyard.base.text import folder_name
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
    else:
        texts = read(below[:MAX_NAMED])
        below = [each for each in below if not _is_internal(texts, each)]
        if len(below) == 1:
            return below[0]
    place = f"{shown} holds" if not path else f"{shown} holds below {shown_path(path)}"
    if not below:
        raise SourceFailed(
            "not_found", f"{place} no SKILL.md", hint="check the path; an internal skill is named"
        )
    texts = read(below[:MAX_NAMED])
    names = [
        _own_name(texts, each) or each.rpartition("/")[2] or name for each in below[:MAX_NAMED]
    ]
    listed = ", ".join(shown_path(spelled(each)) for each in dict.fromkeys(names))
    more = ", …" if len(below) > MAX_NAMED else ""
    if choice.skill:
        raise SourceFailed(
            "not_found",
            f"{place} no skill {shown_path(choice.skill)!r}",
            hint=f"it holds {listed}{more}",
        )
    raise InvalidInput(f"{place} {len(below)} skills; name one: {listed}{more}")


def folders_named(texts: Mapping[str, bytes], name: str) -> list[str]:
    """Return the folders whose SKILL.md, given by folder, has the name of a skill."""
    own = {folder: _own_name(texts, folder) for folder in texts}
    exact = [folder for folder in own if own[folder] == name]
    called = folder_name(name)
    return exact or [each for each in own if own[each] and folder_name(own[each]) == called]


def _is_internal(texts: Mapping[str, bytes], folder: str) -> bool:
    """True for a skill that is installed only if it is named, as `npx skills` does it."""
    if os.environ.get(INTERNAL_VARIABLE) in ("1", "true"):
        return False
    try:
        return check_files({SKILL_FILE: texts[folder]}, folder).internal
    except (SkillyardError, KeyError):
        return False


def _own_name(texts: Mapping[str, bytes], folder: str) -> str:
    """Return the name in the SKILL.md of a folder; empty where there is none."""
    try:
        return check_files({SKILL_FILE: texts[folder]}, folder).name
    except (SkillyardError, KeyError):
        return ""


_SHOWN = 4


class SkillGone(SourceFailed):
    """A source was read whole, and its newest version has a skill no longer."""

    def __init__(self, locked: LockedSkill, what: str, found: Sequence[str] = ()) -> None:
        remove = f"`skillyard remove {name_in_shell(locked.name)}`"
        some = ", ".join(map(shown_path, found[:_SHOWN]))
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
