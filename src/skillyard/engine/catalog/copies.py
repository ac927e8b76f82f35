"""Copies and variants: files of one skill in several places, which count as one skill.

Copies have the same bytes, variants nearly the same text (:mod:`.variants`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from skillyard.engine.skill import Skill


def base_name(name: str, plugin: str | None) -> str:
    """Return a skill's name without that of its plugin."""
    return name.partition(":")[2] or name if plugin else name


def have_one_content(skills: Sequence[Skill]) -> bool:
    """True when all skills are copies of one. False for no skills."""
    return len({(skill.hash, skill.name) for skill in skills}) == 1


def places_by_path(
    shadowed: Mapping[Skill, Skill], further: Collection[str]
) -> dict[str, tuple[Skill, ...]]:
    """Return the copies and variants of each skill that has any, by the path of the skill."""
    by_path: dict[str, list[Skill]] = {}
    for loser, winner in shadowed.items():
        if loser.path in further:
            by_path.setdefault(winner.path, []).append(loser)
    return {path: tuple(places) for path, places in by_path.items()}


def without_paths(
    shadowed: Mapping[Skill, Skill], further: Collection[str], removed: Collection[str]
) -> dict[Skill, Skill]:
    """Return the shadowed skills, each with its winner, after files were removed.

    The first copy or variant of a removed skill takes its place, also as the loser of what shadowed
    it.
    """
    heirs: dict[str, Skill] = {}
    remaining: dict[Skill, Skill] = {}
    for loser, winner in shadowed.items():
        if loser.path in removed:
            continue
        if winner.path not in removed:
            remaining[loser] = winner
        elif loser.path in further:
            heir = heirs.setdefault(winner.path, loser)
            above = shadowed.get(winner) if heir is loser else heir
            if above is not None and above.path not in removed:
                remaining[loser] = above
    return remaining
