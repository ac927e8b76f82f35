"""Copies: files with one name and the same bytes, which are one skill in several places."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from skillyard.skill import Skill

__all__ = ["copies_by_path", "have_one_content", "is_copy", "without_paths"]


def is_copy(loser: Skill, winner: Skill) -> bool:
    """True where a shadowed skill has the name and the bytes of the skill that wins over it."""
    return loser.hash == winner.hash and loser.name == winner.name


def have_one_content(skills: Sequence[Skill]) -> bool:
    """True where the skills are one skill in one or several places; False for none."""
    return bool(skills) and all(is_copy(skill, skills[0]) for skill in skills)


def copies_by_path(shadowed: Mapping[Skill, Skill]) -> dict[str, tuple[Skill, ...]]:
    """Return the copies of each skill that has some, by its path, in the order of the places."""
    found: dict[str, list[Skill]] = {}
    for loser, winner in shadowed.items():
        if is_copy(loser, winner):
            found.setdefault(winner.path, []).append(loser)
    return {path: tuple(copies) for path, copies in found.items()}


def without_paths(shadowed: Mapping[Skill, Skill], gone: Collection[str]) -> dict[Skill, Skill]:
    """Return who is shadowed by whom once the files at some paths are gone.

    The first copy of a skill that is gone takes its place, also below what shadowed that.
    """
    heirs: dict[str, Skill] = {}
    left: dict[Skill, Skill] = {}
    for loser, winner in shadowed.items():
        if loser.path in gone:
            continue
        if winner.path not in gone:
            left[loser] = winner
        elif is_copy(loser, winner):
            heir = heirs.setdefault(winner.path, loser)
            above = shadowed.get(winner) if heir is loser else heir
            if above is not None and above.path not in gone:
                left[loser] = above
    return left
