"""From a prompt to the one skill that is offered: ranked, and then looked at before it is used."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillyard.decisions import wanted
from skillyard.digest import sha256
from skillyard.errors import SkillError
from skillyard.hook.answer import Chosen
from skillyard.hook.journal import first_time, note, say
from skillyard.hook.library import indexing_is_off, library_place, open_library
from skillyard.hook.payload import Prompt, asked
from skillyard.hook.trust import Project, project_above, untrusted_skills
from skillyard.io.paths import is_below
from skillyard.io.processes import shell_command
from skillyard.ranking.match import Match
from skillyard.ranking.query import Query
from skillyard.selection import Selection, SelectionPolicy, select
from skillyard.text import clean_line
from skillyard.value import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillyard.catalog import Catalog
    from skillyard.hook.budget import Budget
    from skillyard.skill import Skill

__all__ = ["Wishes", "choose"]

NOT_APPROVED = "not approved"


MAX_PLACES = 8
"""Copies of one skill that are looked at: the agents that have a folder of their own."""


class _Refusal(NamedTuple):
    """Why one place of a skill is not used."""

    project: Project
    below: str
    """Its path in the project."""
    what: str
    digest: str
    """Of its content; empty where that could not be read."""


class Wishes(NamedTuple):
    """What the hook was told when it was installed."""

    roots: tuple[str, ...] = ()
    """More libraries; whoever names one trusts it."""
    max_chars: int = 0
    """Characters of instructions in the answer."""
    min_score: float | None = None
    refresh: bool = True
    """Whether to look after the index in the background."""


def choose(host: str, prompt: Prompt, wishes: Wishes, budget: Budget) -> Chosen | None:
    """Return the skill that fits a prompt and may be used, or None. Raises Breach."""
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
    policy = SelectionPolicy(min_score=wishes.min_score)
    selection = select(catalog, query, policy)
    budget.check("ranking")
    chosen, refused = _first_usable(host, catalog, selection, project, wishes)
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
        close = [
            other.skill.name
            for other in selection.menu
            if match in selection.menu
            and other is not match
            and any(
                _may_be_named(place, project, roots)
                for place in _places(catalog, other.skill, project, roots)
            )
        ]
        return Chosen(found[0], match, found[1], tuple(close)), refused
    return None, refused


def _places(
    catalog: Catalog, skill: Skill, project: Project | None, roots: tuple[str, ...]
) -> list[Skill]:
    """Return a skill and its copies, the approved ones first.

    Whoever can add files to a project can add copies of a skill before the one that was approved.
    """
    places = [skill, *catalog.copies(skill)]
    places.sort(key=lambda place: not _may_be_named(place, project, roots))
    return places[:MAX_PLACES]


def _usable_place(
    host: str,
    places: Sequence[Skill],
    project: Project | None,
    roots: tuple[str, ...],
    *,
    body: bool,
) -> tuple[Skill, str | None] | None:
    """Return the first place of a skill that may be used; say why not where there is none."""
    refusals: list[_Refusal] = []
    for place in places:
        found = _usable(place, project, roots, refusals, body=body)
        if found is not None:
            return found
    for refusal in refusals:
        _say_changed(host, refusal)
    return None


def _usable(
    skill: Skill,
    project: Project | None,
    roots: tuple[str, ...],
    refusals: list[_Refusal],
    *,
    body: bool,
) -> tuple[Skill, str | None] | None:
    """Return the skill as its file says now, with its instructions where they are asked for."""
    if project is None or not _needs_approval(skill, roots):
        return _as_it_is(skill, body=body)
    from skillyard.hook.approval import Unapprovable, content_of

    below = os.path.relpath(skill.path, project.path)
    try:
        content = content_of(skill.path, project.path)
    except Unapprovable as why:
        refusals.append(_Refusal(project, below, f"{below}: {why}", ""))
        return None
    except OSError:
        return None  # it is gone; the index will know soon
    if not project.approves(below, content.digest):
        what = "has changed since it was approved" if project.knows(below) else "is not approved"
        refusals.append(_Refusal(project, below, f"{below} {what}", content.digest))
        return None
    if sha256(content.data).hex() != skill.hash:
        return None  # what the index says of it is not what was approved
    if not body:
        return skill, None
    from skillyard.formats.frontmatter import decode, split, unify_lines

    try:
        return skill, split(unify_lines(decode(content.data, below)), below).body
    except SkillError:
        return skill, None


def _needs_approval(skill: Skill, roots: tuple[str, ...]) -> bool:
    """Return False for the user's own skills and for those of libraries that were named."""
    own = skill.scope == "user"
    return not own and not any(is_below(skill.path, root) for root in roots)


def _may_be_named(skill: Skill, project: Project | None, roots: tuple[str, ...]) -> bool:
    """Return True for a skill that may be named beside the chosen one."""
    if project is None or not _needs_approval(skill, roots):
        return True
    return project.knows(os.path.relpath(skill.path, project.path))


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


def _say_changed(host: str, refusal: _Refusal) -> None:
    """Say once for each state of a skill that it is not used."""
    project, below, what, digest = refusal
    if first_time(project.path, f"{below}\0{digest}\0{what}"):
        told = f"{what}; look at it, then: {_trust(project.path)}"
        note(host, "changed", clean_line(told))
        say(told)


def _log(
    catalog: object,
    query: Query,
    policy: SelectionPolicy,
    selection: Selection,
    chosen: Chosen | None,
    refused: list[Match],
) -> None:
    """Log what was offered, not what was ranked first: skills not approved are runners-up."""
    from typing import Any, cast

    from skillyard.decisions.recording import record
    from skillyard.service.choosing import bounds

    best = () if chosen is None else (chosen.match,)
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
