"""Names that occur twice: which skill wins, which stay ambiguous, and the diagnostics for both."""

from __future__ import annotations

from collections.abc import Iterable

from skillyard.catalog.entries import Entry
from skillyard.errors import Diagnostic
from skillyard.skill import Origin, Skill

__all__ = ["resolve_collisions"]


def resolve_collisions(
    entries: Iterable[Entry],
) -> tuple[dict[Skill, Skill], list[Diagnostic]]:
    """Return the shadowed skills, each with the winner, and the diagnostics.

    Files with the same name and the same bytes are copies of one skill: the first place wins.
    Between different skills of one name, an earlier root wins over a later one (so the project over
    the user). Within one root ``.skills/<name>.md`` wins over ``<name>/SKILL.md``; any other pair
    stays ambiguous. Of two Oasis skills with one id, the one whose folder has the id as its name
    wins, else the first.
    """
    by_name: dict[str, list[Entry]] = {}
    by_oasis_id: dict[str, list[Entry]] = {}
    for entry in entries:
        skill = entry.skill
        if skill is None or skill.origin == Origin.CONVENTION:
            continue
        by_name.setdefault(skill.name, []).append(entry)
        if skill.origin == Origin.OASIS:
            by_oasis_id.setdefault(skill.slug or "", []).append(entry)
    shadowed: dict[Skill, Skill] = {}
    diagnostics: list[Diagnostic] = []
    for group in by_name.values():
        if len(group) > 1:
            _unite_copies(group, shadowed, diagnostics)
    for group in by_oasis_id.values():
        remaining = [entry for entry in group if entry.skill not in shadowed]
        if len(remaining) > 1:
            _shadow(remaining, _oasis_winner(remaining), "oasis_id_twice", shadowed, diagnostics)
    for group in by_name.values():
        remaining = [entry for entry in group if entry.skill not in shadowed]
        if len(remaining) > 1:
            _resolve_name(remaining, shadowed, diagnostics)
    return shadowed, diagnostics


def _unite_copies(
    group: list[Entry], shadowed: dict[Skill, Skill], diagnostics: list[Diagnostic]
) -> None:
    """Shadow the copies of each content. All entries of ``group`` have the same name."""
    by_hash: dict[str, list[Entry]] = {}
    for entry in group:
        if entry.skill is not None:
            by_hash.setdefault(entry.skill.hash, []).append(entry)
    for places in by_hash.values():
        winner, *copies = sorted(places, key=_place_order)
        for entry in copies:
            if entry.skill is None or winner.skill is None:
                continue
            shadowed[entry.skill] = winner.skill
            diagnostics.append(
                Diagnostic(
                    "identical_copy",
                    "info",
                    entry.candidate.path,
                    f"{entry.skill.name!r} is the same file as {winner.candidate.path}: one skill"
                    f" in {len(places)} places",
                    "nothing to do; delete one of them if you do not need both",
                )
            )


def _place_order(entry: Entry) -> tuple[int, int, tuple[str, ...]]:
    """Return the sort key of the places of one content: root, kind of place, path.

    A runtime document ``<name>.md`` comes first, then a folder with the name of the skill, then any
    other place.
    """
    candidate, skill = entry.candidate, entry.skill
    if skill is None:
        return candidate.root, 3, candidate.parts
    if candidate.origin == Origin.RUNTIME and candidate.parts[-1] == f"{skill.name}.md":
        return candidate.root, 0, candidate.parts
    own = skill.slug if skill.origin == Origin.OASIS else skill.name
    return candidate.root, 1 if candidate.folder == own else 2, candidate.parts


def _oasis_winner(group: list[Entry]) -> Entry:
    first = [entry for entry in group if entry.candidate.root == group[0].candidate.root]
    for entry in first:
        if entry.skill is not None and entry.candidate.folder == entry.skill.slug:
            return entry
    return first[0]


def _resolve_name(
    group: list[Entry], shadowed: dict[Skill, Skill], diagnostics: list[Diagnostic]
) -> None:
    first_root = min(entry.candidate.root for entry in group)
    here = [entry for entry in group if entry.candidate.root == first_root]
    twin = _runtime_twin(here)
    winner = twin or here[0]
    losers = [entry for entry in group if entry.candidate.root != first_root]
    if twin is not None:
        losers = [entry for entry in group if entry is not twin]
    # Oasis names are display names. Its registry uses ids, which are already resolved.
    losers = [entry for entry in losers if not (_is_oasis(entry) and _is_oasis(winner))]
    if losers:
        _shadow([winner, *losers], winner, "name_shadowed", shadowed, diagnostics)
    if twin is not None and len(losers) == 1:  # the pair that adk-skill recommends
        diagnostics[-1] = diagnostics[-1]._replace(
            severity="info",
            message=f"{twin.candidate.path} is the runtime twin and is chosen in its place",
            hint="keep the two in step",
        )
    rest = [e for e in here if e.skill is not None and e.skill not in shadowed]
    diagnostics.extend(
        Diagnostic(
            "name_shared",
            "info",
            entry.candidate.path,
            f"the name {entry.skill.name!r} is also that of {rest[0].candidate.path}",
            "rename one of them; until then use the id",
        )
        for entry in rest[1:]
        if entry.skill is not None
    )


def _is_oasis(entry: Entry) -> bool:
    return entry.skill is not None and entry.skill.origin == Origin.OASIS


def _runtime_twin(group: list[Entry]) -> Entry | None:
    """Return ``.skills/<name>.md`` when the group is that file and one ``<name>/SKILL.md``."""
    if len(group) != 2:
        return None
    runtime = [entry for entry in group if entry.candidate.origin == Origin.RUNTIME]
    folders = [e for e in group if e.skill is not None and e.skill.origin == Origin.AGENTSKILLS]
    if len(runtime) != 1 or len(folders) != 1 or runtime[0].skill is None:
        return None
    name = runtime[0].skill.name
    is_twin = runtime[0].candidate.parts[-1] == f"{name}.md" and folders[0].candidate.folder == name
    return runtime[0] if is_twin else None


def _shadow(
    group: list[Entry],
    winner: Entry,
    code: str,
    shadowed: dict[Skill, Skill],
    diagnostics: list[Diagnostic],
) -> None:
    for entry in group:
        if entry is winner or entry.skill is None or winner.skill is None:
            continue
        shadowed[entry.skill] = winner.skill
        diagnostics.append(
            Diagnostic(
                code,
                "warning",
                entry.candidate.path,
                f"{entry.skill.name!r} is shadowed by {winner.candidate.path}",
                "rename one of them, or load this one by its id",
            )
        )
