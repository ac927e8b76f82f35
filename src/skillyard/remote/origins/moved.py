"""Where a locked skill is in the newest version of its repository, if it left its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillyard.errors import SkillyardError
from skillyard.remote.install.file_paths import name_in_shell, shown_path
from skillyard.remote.install.lock_entries import LockedSkill, folder_name
from skillyard.remote.install.placement import check_files
from skillyard.remote.sources.protocol import SourceFailed
from skillyard.remote.sources.repository import SKILL_FILE

__all__ = ["MAX_READ", "SkillGone", "folders_called", "folders_named", "only_folder"]

MAX_READ = 500
"""Skills of a repository that are read for their names."""
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


def folders_named(texts: Mapping[str, bytes], locked: LockedSkill) -> list[str]:
    """Return the folders whose SKILL.md, given by folder, has the name of the skill."""
    found = []
    for folder, data in texts.items():
        try:
            name = check_files({SKILL_FILE: data}, folder).name
        except SkillyardError:
            continue
        if name and folder_name(name) == folder_name(locked.name):
            found.append(folder)
    return found


def only_folder(found: Sequence[str], locked: LockedSkill, shown: str, commit: str) -> str:
    """Return the one folder in which the skill is now. Raises SkillGone."""
    if len(found) == 1:
        return found[0]
    since = f"between the commits {locked.commit[:12]} and" if locked.commit else "by commit"
    raise SkillGone(locked, f"gone from {shown} {since} {commit[:12]}", found)
