"""Copies: files with the same name and the same bytes, which count as one skill."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from skillyard.skill import Skill

__all__ = ["copies_by_path", "have_one_content", "is_copy", "without_paths"]


def is_copy(loser: Skill, winner: Skill) -> bool:
    """True when a shadowed skill has the name and the bytes of the skill that shadows it."""
    return loser.hash == winner.hash and loser.name == winner.name


def have_one_content(skills: Sequence[Skill]) -> bool:
    """True when all skills are copies of one. False for no skills."""
    return bool(skills) and all(is_copy(skill, skills[0]) for skill in skills)


def copies_by_path(shadowed: Mapping[Skill, Skill]) -> dict[str, tuple[Skill, ...]]:
    """Return the copies of each skill that has any, by the path of the skill."""
    by_path: dict[str, list[Skill]] = {}
    for loser, winner in shadowed.items():
        if is_copy(loser, winner):
            by_path.setdefault(winner.path, []).append(loser)
    return {path: tuple(copies) for path, copies in by_path.items()}


def without_paths(shadowed: Mapping[Skill, Skill], removed: Collection[str]) -> dict[Skill, Skill]:
    """Return the shadowed skills, each with its winner, after files were removed.

    The first copy of a removed skill takes its place, also as the loser of what shadowed it.
    """
    heirs: dict[str, Skill] = {}
    remaining: dict[Skill, Skill] = {}
    for loser, winner in shadowed.items():
        if loser.path in removed:
            continue
        if winner.path not in removed:
            remaining[loser] = winner
        elif is_copy(loser, winner):
            heir = heirs.setdefault(winner.path, loser)
            above = shadowed.get(winner) if heir is loser else heir
            if above is not None and above.path not in removed:
                remaining[loser] = above
    return remaining
