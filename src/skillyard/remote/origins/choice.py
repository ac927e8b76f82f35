"""Which skill of several is meant: of a repository, an archive or a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from skillyard.errors import InvalidInput
from skillyard.remote.install.file_paths import shown_path
from skillyard.remote.sources.protocol import SourceFailed
from skillyard.remote.sources.repository import skill_folder

__all__ = ["ONLY_ONE", "SkillChoice", "choose_folder"]

MAX_NAMED = 8
"""Skills that an error lists."""


class SkillChoice(NamedTuple):
    """What is said about which skill is meant; without anything the only one is."""

    skill: str = ""
    """The name of its folder."""
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
) -> str:
    """Return the folder of the skill that is meant; ``""`` is the root.

    ``folders`` are all that hold a SKILL.md, ``shown`` and ``name`` are those of the whole, and
    ``spelled`` returns how a user writes the skill in a folder of that name. Raises SourceFailed
    without such a skill, InvalidInput with several.
    """
    path = (choice.path or "").strip("/")
    if choice.path is not None and not choice.skill and path in folders:
        return path
    below = [each for each in folders if not path or each.startswith(f"{path}/")]
    if choice.skill:
        folder = skill_folder(below, name, choice.skill)
        if folder is not None:
            return folder
    elif len(below) == 1:
        return below[0]
    place = f"{shown} holds" if not path else f"{shown} holds below {shown_path(path)}"
    if not below:
        raise SourceFailed("not_found", f"{place} no SKILL.md", hint="check the path")
    names = [each.rpartition("/")[2] or name for each in below]
    some = ", ".join(shown_path(spelled(each)) for each in names[:MAX_NAMED])
    more = ", …" if len(names) > MAX_NAMED else ""
    if choice.skill:
        raise SourceFailed(
            "not_found",
            f"{place} no skill {shown_path(choice.skill)!r}",
            hint=f"it holds {some}{more}",
        )
    raise InvalidInput(f"{place} {len(names)} skills; name one: {some}{more}")
