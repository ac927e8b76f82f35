"""The catalogue summary, a host's listing, and a prompt with the block of the best skill."""

from __future__ import annotations

import json
from collections import Counter
from typing import NamedTuple

from skillyard.base.errors import Diagnostic, InvalidInput
from skillyard.base.io.files import read_last_lines
from skillyard.base.shapes import prompts as shapes
from skillyard.base.shapes.encoder import from_attributes
from skillyard.base.shapes.prompts import Injected, Summarised
from skillyard.engine.catalog import Catalog
from skillyard.engine.context.budget import estimate_tokens
from skillyard.engine.context.catalogue import by_preference, summary
from skillyard.engine.context.hosts import listed_skills, rule_of
from skillyard.engine.context.injection import (
    MAX_INJECTED_CHARS,
    _own_words,
    inject,
    select_prompt_block,
)
from skillyard.engine.context.listing import (
    CUT,
    LEFT_OUT,
    NAME_ONLY,
    NOT_READ,
    WHOLE,
    HostListing,
    fit_listing,
    host_listing,
)
from skillyard.engine.ranking.match import Match
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import DEFAULT_SCORER
from skillyard.engine.selection import SelectionPolicy, select
from skillyard.hosts.decisions import is_enabled

MOST_LOG_BYTES = 64 * 1024 * 1024
"""Bytes of a log of uses that are looked at: the last ones."""


def summary_of(
    catalog: Catalog,
    *,
    format: str = "lines",
    budget_tokens: int | None = None,
    query: Query | None = None,
    scorer: str = DEFAULT_SCORER,
) -> Summarised:
    """Return the catalogue in one of its formats, within a budget of estimated tokens.

    ``query`` decides which skills keep their place when not all fit. Raises UnknownName,
    InvalidInput.
    """
    text = summary(catalog, format, budget_tokens, query, scorer=scorer)
    return Summarised(
        format=format,
        text=text,
        budget_tokens=budget_tokens,
        tokens=estimate_tokens(text),
        diagnostics=tuple(each.document() for each in catalog.diagnostics),
    )


class HostSummary(NamedTuple):
    """The listing that one host makes of a catalog, or the same rewritten to fit."""

    listing: HostListing
    fit: bool
    by: str
    """What says which skills go first: ``query``, ``use``, or ``order`` where nothing does."""
    unknown_uses: int
    """Lines of the log of uses that name no skill of the catalog."""
    diagnostics: tuple[Diagnostic, ...]

    def document(self) -> shapes.Summarised:
        """Return ``skillyard.summary/1`` with the listing."""
        rule, listing = self.listing.rule, self.listing
        return shapes.Summarised(
            format=rule.form,
            text=listing.text,
            budget_tokens=None,
            tokens=estimate_tokens(listing.text),
            listing=from_attributes(
                shapes.HostListing,
                listing,
                host=rule.name,
                unit=rule.unit,
                fit=self.fit,
                by=self.by,
                unknown_uses=self.unknown_uses,
                whole=listing.count(WHOLE),
                cut=listing.count(CUT),
                name_only=listing.count(NAME_ONLY),
                left_out=listing.count(LEFT_OUT),
                not_read=listing.count(NOT_READ),
                skills=tuple(entry.document() for entry in listing.entries),
                remedy=rule.remedy,
                source=rule.source,
            ),
            diagnostics=tuple(each.document() for each in self.diagnostics),
        )


def host_summary_of(
    catalog: Catalog,
    host: str,
    *,
    window: int | None = None,
    budget: int | None = None,
    fit: bool = False,
    query: Query | None = None,
    use: str | None = None,
    scorer: str = DEFAULT_SCORER,
) -> HostSummary:
    """Return the listing that a host makes of a catalog; ``fit`` puts the important skills first.

    ``use`` is a file of JSON lines that name used skills (a decision log, for example). It is the
    usage of a host that keeps the most used skills; ``fit`` orders by it, or else by ``query``.
    Raises UnknownName for an unknown host, InvalidInput.
    """
    rule = rule_of(host)
    if query is not None and (use is not None or not fit):
        raise InvalidInput("--query says what --fit puts first; it goes with --fit, without --use")
    uses, unknown = ({}, 0) if use is None else used_in(catalog, use)
    by = "query" if query is not None else "order" if use is None else "use"
    if fit:
        skills = listed_skills(catalog, rule)[0]
        ordered = by_preference(catalog, skills, query, scorer)
        ordered += [skill for skill in skills if skill not in ordered]
        ordered.sort(key=lambda skill: -uses.get(skill.path, 0))
        listing = fit_listing(catalog, rule, ordered, window=window, budget=budget)
    else:
        listing = host_listing(catalog, rule, window=window, budget=budget, used=uses)
    return HostSummary(listing, fit, by, unknown, catalog.diagnostics)


def used_in(catalog: Catalog, path: str) -> tuple[dict[str, int], int]:
    """Return how often a log names each skill, by the skill's path, and how many lines name none.

    A line is JSON with ``selected`` (the decision log, ``select --json``: its first skill counts,
    an abstention does not) or with ``id``, ``slug``, ``name`` or ``skill``. A skill edited since
    then has another id, and is matched by its slug or name. Raises InvalidInput for an unreadable
    file.
    """
    paths: dict[str, set[str]] = {}
    for skill in catalog.candidates:
        for name in (skill.id, skill.slug, skill.name):
            paths.setdefault(name, set()).add(skill.path)
    counts: Counter[str] = Counter()
    unknown = 0
    for line in _lines(path):
        named = _named(line)
        known = [paths[name] for name in named or () if name in paths]
        one = next((listed for listed in known if len(listed) == 1), None)
        if one is not None:
            counts.update(one)
        elif named != ():
            unknown += 1
    return dict(counts), unknown


def _lines(path: str) -> list[bytes]:
    try:
        return read_last_lines(path, MOST_LOG_BYTES)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}; check the path") from None


def _named(line: bytes) -> tuple[str, ...] | None:
    """Return the names of the skill in a line, surest first; () for none, None for no such line."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if isinstance(event, dict) and isinstance(event.get("selected"), list):
        if not event["selected"]:
            return ()
        event = event["selected"][0]
    if not isinstance(event, dict):
        return None
    names = [event.get(field) for field in ("id", "slug", "name", "skill")]
    return tuple(name for name in names if isinstance(name, str)) or None


def inject_prompt(
    catalog: Catalog,
    prompt: str,
    query: Query | None = None,
    policy: SelectionPolicy | None = None,
    *,
    scorer: str = DEFAULT_SCORER,
    max_chars: int | None = MAX_INJECTED_CHARS,
    fence: str | None = None,
    tools: tuple[str, ...] = (),
) -> Injected:
    """Put the block of the best skill before a prompt.

    The prompt itself is the query unless another one is given. ``max_chars`` bounds the skill's
    text in the block; ``fence`` is that of :func:`skillyard.prompt_block`; ``tools`` are those that
    the reader has, for skills that require some. The decision is logged when logging is enabled
    (:mod:`skillyard.hosts.decisions`). Raises UnknownName, InvalidInput.
    """
    if tools:
        query = (query or Query(_own_words(prompt))).replace(tools=tools)
    if is_enabled():
        _log(catalog, Query(_own_words(prompt)) if query is None else query, policy, scorer)
    match: Match | None = None
    if query is None:
        prompt, match = inject(prompt, catalog, policy, max_chars, scorer, fence=fence)
    else:
        selected = select_prompt_block(catalog, query, policy, scorer, max_chars, fence=fence)
        if selected is not None:
            block, match = selected
            prompt = f"{block}\n\n{prompt}"
    return Injected(
        scorer=scorer,
        injected=match is not None,
        match=None if match is None else match.document(),
        prompt=prompt,
        diagnostics=tuple(each.document() for each in catalog.diagnostics),
    )


def _log(catalog: Catalog, query: Query, policy: SelectionPolicy | None, scorer: str) -> None:
    """Choose once more to log it whole: injection itself keeps no more than the best skill."""
    from skillyard.engine.selection import bounds
    from skillyard.hosts.decisions.recorder import record

    if query.empty:
        return
    policy = policy or SelectionPolicy()
    selection = select(catalog, query, policy, scorer=scorer)
    record("inject", catalog, query, policy, bounds(policy, scorer), selection)
