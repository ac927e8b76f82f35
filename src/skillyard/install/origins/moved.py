"""Where a locked skill is in the newest version of its repository, if it left its folder."""

from __future__ import annotations

from collections.abc import Sequence

from skillyard.base.errors import SourceFailed
from skillyard.base.text import folder_name
from skillyard.install.copies.file_paths import name_in_shell, shown_path
from skillyard.install.copies.lock_entries import LockedSkill

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
