"""From a prompt to the one skill that is offered: ranked, and then looked at before it is used."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from skillyard.decisions import wanted
from skillyard.errors import SkillError
from skillyard.hook.admission import CODE, NotApproved, approved_content, needs_approval
from skillyard.hook.answer import Chosen
from skillyard.hook.journal import first_time, note, say
from skillyard.hook.library import library_place, open_library
from skillyard.hook.payload import Prompt, asked
from skillyard.hook.trust import Project, project_above, untrusted_skills
from skillyard.index.indexed_catalog import indexing_is_off
from skillyard.io.processes import shell_command
from skillyard.io.sha256 import sha256
from skillyard.ranking.match import Match
from skillyard.ranking.query import Query
from skillyard.selection import Selection, SelectionPolicy, select
from skillyard.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillyard.catalog import Catalog
    from skillyard.hook.budget import Budget
    from skillyard.skill import Skill

__all__ = ["Wishes", "choose"]

NOT_APPROVED = "not approved"
MAX_PLACES = 8
"""Copies of one skill that are looked at: the agents that have a folder of their own."""
MAX_NAMED = 5
"""Skills that one remark names."""


class Wishes(NamedTuple):
    """What the hook was told when it was installed."""

    roots: tuple[str, ...] = ()
    """More libraries; whoever names one trusts it."""
    max_chars: int = 0
    """Characters of instructions in the answer."""
    min_score: float | None = None
    refresh: bool = True
    """Whether to look after the index in the background."""
    wrong_cost: float | None = None
    """What a wrong skill costs where a missed one costs 1; not with ``min_score``."""
    perhaps: bool = True
    """Whether to name the skill that perhaps fits, where none surely does."""


def choose(host: str, prompt: Prompt, wishes: Wishes, budget: Budget) -> Chosen | None:
    """Return the skill that fits a prompt and may be used, or None. Raises Breach.

    Where none fits surely, it is the one that perhaps fits, and marked so, if that is wanted.
    """
    query = Query(asked(prompt.text))
    if query.empty:
        return None
    project = project_above(prompt.folder) if prompt.folder else None
    if project is None and prompt.folder:
        _say_untrusted(host, prompt.folder)
    roots = tuple(os.path.abspath(root) for root in wishes.roots)
    place = library_place(roots, project.path if project else None)
    if indexing_is_off():
        note(host, "no_index", "SKILLYARD_INDEX is off: a hook answers from an index only")
        return None
    catalog = open_library(place, refresh=wishes.refresh)
    budget.check("opening the index")
    if catalog is None:
        making = "it is being made" if wishes.refresh else "make it with: skillyard index build"
        note(host, "no_index", f"there is no index yet; {making}")
        return None
    if project is not None:
        _say_left_out(host, catalog, project)
    policy = SelectionPolicy(min_score=wishes.min_score, wrong_cost=wishes.wrong_cost)
    selection = select(catalog, query, policy)
    budget.check("ranking")
    chosen, refused = _first_usable(host, catalog, selection, project, wishes)
    if wishes.perhaps and not selection.selected:
        chosen = _perhaps(host, catalog, selection, project, wishes)
    if wanted():
        _log(catalog, query, policy, selection, chosen, refused)
    budget.check("looking at the skill")
    return chosen


def _say_untrusted(host: str, folder: str) -> None:
    """Say once that a project has skills that nobody has approved."""
    project = untrusted_skills(folder)
    if project is not None and first_time(project, "untrusted"):
        told = f"skills of {project} are not used until: {_trust(project)}"
        note(host, "untrusted", clean_line(told))
        say(told)


def _trust(project: str) -> str:
    return shell_command(["skillyard", "trust", project])


def _first_usable(
    host: str, catalog: Catalog, selection: Selection, project: Project | None, wishes: Wishes
) -> tuple[Chosen | None, list[Match]]:
    """Return the first selected skill that may be used, and those before it that may not."""
    roots = tuple(os.path.abspath(root) for root in wishes.roots)
    refused: list[Match] = []
    for match in selection.selected:
        places = _places(catalog, match.skill, project, roots)
        found = _usable_place(host, places, project, roots, body=wishes.max_chars > 0)
        if found is None:
            refused.append(match)
            continue
        close = []
        for other in selection.menu if match in selection.menu else ():
            places = _places(catalog, other.skill, project, roots)
            usable = other is not match and _usable_place(host, places, project, roots, body=False)
            if usable:  # its name comes from a stranger too: it is named once it may be used
                close.append(usable[0].name)
        return Chosen(found[0], match, found[1], tuple(close)), refused
    return None, refused


def _perhaps(
    host: str, catalog: Catalog, selection: Selection, project: Project | None, wishes: Wishes
) -> Chosen | None:
    """Return the skill that perhaps fits, if it may be used: only its name and place are shown."""
    roots = tuple(os.path.abspath(root) for root in wishes.roots)
    for match in selection.maybe[:1]:
        places = _places(catalog, match.skill, project, roots)
        usable = _usable_place(host, places, project, roots, body=False)
        if usable is not None:
            return Chosen(usable[0], match, None, perhaps=True)
    return None


def _places(
    catalog: Catalog, skill: Skill, project: Project | None, roots: tuple[str, ...]
) -> list[Skill]:
    """Return a skill and its copies, the approved ones first.

    Whoever can add files to a project can add copies of a skill before the one that was approved.
    """
    places = [skill, *catalog.copies(skill)]

    def is_new(place: Skill) -> bool:
        if project is None or not needs_approval(place.path, place.scope, roots):
            return False
        return not project.knows(os.path.relpath(place.path, project.path))

    return sorted(places, key=is_new)[:MAX_PLACES]


def _usable_place(
    host: str,
    places: Sequence[Skill],
    project: Project | None,
    roots: tuple[str, ...],
    *,
    body: bool,
) -> tuple[Skill, str | None] | None:
    """Return the first place of a skill that may be used; say why not where there is none."""
    refused: list[str] = []
    for place in places:
        found = _usable(place, project, roots, refused, body=body)
        if found is not None:
            return found
    if project is not None:
        _say_refused(host, project, refused)
    return None


def _usable(
    skill: Skill,
    project: Project | None,
    roots: tuple[str, ...],
    refused: list[str],
    *,
    body: bool,
) -> tuple[Skill, str | None] | None:
    """Return the skill as its file says now, with its instructions where they are asked for."""
    if project is None or not needs_approval(skill.path, skill.scope, roots):
        return _as_it_is(skill, body=body)
    below = os.path.relpath(skill.path, project.path)
    try:
        content = approved_content(project, skill.path)
    except NotApproved:
        refused.append(below)
        return None
    except OSError:
        return None  # it is gone; the index will know soon
    if sha256(content.data).hex() != skill.hash:
        return None  # what the index says of it is not what was approved
    if not body:
        return skill, None
    from skillyard.formats.frontmatter import decode, split, unify_lines

    try:
        return skill, split(unify_lines(decode(content.data, below)), below).body
    except SkillError:
        return skill, None


def _as_it_is(skill: Skill, *, body: bool) -> tuple[Skill, str | None] | None:
    """Return a skill whose file is as it was when it was indexed, else what the file says now."""
    try:
        status = os.stat(skill.path)
    except OSError:
        return None
    if not body and skill.last_modified == int(status.st_mtime):
        return skill, None
    from skillyard.catalog.reading import refresh

    try:
        now = refresh(skill)
    except SkillError:
        return None
    return now, now.body


def _say_left_out(host: str, catalog: Catalog, project: Project) -> None:
    """Say what the index left out of a project."""
    left_out = [each.path for each in catalog.diagnostics if each.code == CODE]
    _say_refused(host, project, [os.path.relpath(path, project.path) for path in left_out])


def _say_refused(host: str, project: Project, paths: Sequence[str]) -> None:
    """Say that skills of a project are not used: once, until it is approved again."""
    told = [path for path in paths if first_time(project.path, path)]
    if not told:
        return
    changed = [path for path in told if project.knows(path)]
    new = [path for path in told if not project.knows(path)]
    for some, what in ((changed, "changed since approval"), (new, "not approved")):
        if some:
            shown = ", ".join(some[:MAX_NAMED])
            more = f" and {len(some) - MAX_NAMED:,} more" if len(some) > MAX_NAMED else ""
            message = f"not used, as {what}: {shown}{more}; look, then: {_trust(project.path)}"
            note(host, "changed", clean_line(message))
            say(message)


def _log(
    catalog: object,
    query: Query,
    policy: SelectionPolicy,
    selection: Selection,
    chosen: Chosen | None,
    refused: list[Match],
) -> None:
    """Log what was offered, not what was ranked first: skills not approved are runners-up."""
    from skillyard.decisions.recording import record
    from skillyard.selection import bounds

    best = () if chosen is None or chosen.perhaps else (chosen.match,)
    first = [
        Match(m.skill, m.score, m.level, m._scored, NOT_APPROVED) if m in refused else m
        for m in selection.selected
        if m not in best
    ]
    offered = selection._replace(
        selected=best, rejected=(*first, *selection.rejected), abstained=not best
    )
    floor, _ = bounds(policy, selection.scorer)
    record("hook", cast(Any, catalog), query, policy, (floor, 1), offered)
