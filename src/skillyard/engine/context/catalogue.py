"""Tier 1: the catalogue of skills for a system prompt, within a budget.

Three formats: Oasis summary lines, the ``<available_skills>`` block of agentskills.io, and
Markdown. Hidden skills, shadowed skills and convention documents are left out, because a model
cannot select them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from skillyard.base.errors import InvalidInput, UnknownName
from skillyard.base.text import clean_line, shorten, xml_escape
from skillyard.engine.catalog import Catalog, has_tag
from skillyard.engine.context.budget import estimate_tokens, largest_fitting, omission_note
from skillyard.engine.ranking.match import eligible, in_order, score_query
from skillyard.engine.ranking.protocol import Scorer
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import DEFAULT_SCORER, check_scorer
from skillyard.engine.skill import Origin, Skill

TOP_PHRASES = 3
"""Oasis: "top trigger phrases" in a suggested format of three."""
_MIN_DESCRIPTION_CHARS = 40


def summary(
    catalog: Catalog | Iterable[Skill],
    format: str = "lines",
    budget_tokens: int | None = None,
    query: str | Query | None = None,
    *,
    scorer: str | Scorer | Any = DEFAULT_SCORER,
    include_conventions: bool = False,
) -> str:
    """Return the catalogue text, with entries sorted by id; empty without skills.

    With a budget in estimated tokens, descriptions are first shortened to a common length. Then
    entries are dropped, lowest first in the ranking for ``query`` (without a query: by priority,
    then id), and a last line states their number. The result is empty when no entry fits.
    Raises UnknownName for an unknown format.
    """
    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    if budget_tokens is not None and budget_tokens < 0:
        raise InvalidInput("budget_tokens must be None or an integer of at least 0")
    check_scorer(scorer)
    if not isinstance(catalog, Catalog):
        catalog = Catalog.from_skills(catalog)
    skills = _visible_skills(catalog, include_conventions)
    write = FORMATS[format]
    text = write(skills, None, 0)
    if budget_tokens is None or estimate_tokens(text) <= budget_tokens:
        return text
    ordered = by_preference(catalog, skills, query, scorer)
    return _fit_to_budget(ordered, write, budget_tokens)


def _visible_skills(catalog: Catalog, include_conventions: bool) -> list[Skill]:
    return [
        skill
        for skill in catalog.candidates
        if not skill.hidden and (include_conventions or skill.origin != Origin.CONVENTION)
    ]


def by_preference(
    catalog: Catalog, skills: list[Skill], query: str | Query | None, scorer: str | Scorer | Any
) -> list[Skill]:
    """Return the skills in order of preference.

    With a query they are ranked. Skills that do not match come last, in the order without a query.
    """
    by_priority = sorted(skills, key=lambda skill: (-skill.priority, _by_id(skill)))
    if query is None:
        return by_priority
    request = query if isinstance(query, Query) else Query(query)
    _, scored = score_query(catalog, request, scorer)
    listed_ids = {id(skill) for skill in skills}
    pairs = eligible(catalog, request, zeros=True, scored=scored)
    ranked = [skill for skill, _ in in_order(pairs, scored) if id(skill) in listed_ids]
    if not scored.is_preordered:
        return ranked
    ranked_ids = {id(skill) for skill in ranked}
    rest = (skill for skill in by_priority if id(skill) not in ranked_ids)
    return [*ranked, *(skill for skill in rest if _passes_tags(skill, request))]


def _passes_tags(skill: Skill, query: Query) -> bool:
    """Return True when the skill passes the query's tags."""
    included = not query.include_tags or has_tag(skill, query.include_tags)
    return included and not has_tag(skill, query.exclude_tags)


Writer = Callable[[Sequence[Skill], int | None, int], str]


def _fit_to_budget(preferred: list[Skill], write: Writer, budget: int) -> str:
    def fits(count: int, chars: int | None) -> bool:
        left = len(preferred) - count
        return estimate_tokens(write(preferred[:count], chars, left)) <= budget

    longest = max((len(skill.description) for skill in preferred), default=0)
    count = len(preferred)
    if not fits(count, _MIN_DESCRIPTION_CHARS):
        count = largest_fitting(0, count, lambda number: fits(number, _MIN_DESCRIPTION_CHARS))
    if count == 0:
        return ""
    chars = largest_fitting(_MIN_DESCRIPTION_CHARS, longest, lambda number: fits(count, number))
    return write(preferred[:count], chars, len(preferred) - count)


def _by_id(skill: Skill) -> tuple[bytes, tuple[str, str]]:
    return (skill.slug or "").encode("utf-8", "surrogatepass"), skill.key


def _description(skill: Skill, chars: int | None) -> str:
    line = clean_line(skill.description)
    return line if chars is None else shorten(line, chars)


def _lines(skills: Sequence[Skill], chars: int | None, left: int) -> str:
    lines = []
    for skill in sorted(skills, key=_by_id):
        name, slug = clean_line(skill.name), clean_line(skill.slug or skill.name)
        line = f"- {name} ({slug}): {_description(skill, chars)}"
        phrases = [clean_line(phrase) for phrase in skill.triggers.phrases[:TOP_PHRASES]]
        lines.append(f"{line} | triggers: {', '.join(phrases)}" if phrases else line)
    if left:
        lines.append(omission_note(left))
    return "\n".join(lines)


def _xml(skills: Sequence[Skill], chars: int | None, left: int) -> str:
    if not skills:
        return ""
    lines = ["<available_skills>"]
    for skill in sorted(skills, key=_by_id):
        lines += ["<skill>", "<name>", xml_escape(clean_line(skill.name)), "</name>"]
        lines += ["<description>", xml_escape(_description(skill, chars)), "</description>"]
        if skill.path:
            lines += ["<location>", xml_escape(clean_line(skill.path)), "</location>"]
        lines.append("</skill>")
    if left:
        lines.append(f"<!-- {omission_note(left)} -->")
    lines.append("</available_skills>")
    return "\n".join(lines)


def _markdown(skills: Sequence[Skill], chars: int | None, left: int) -> str:
    lines = [
        f"- **{_plain(skill.name)}**: {_plain(_description(skill, chars))}"
        for skill in sorted(skills, key=_by_id)
    ]
    if left:
        lines.append(f"- {omission_note(left)}")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return the text on one line with Markdown characters escaped."""
    line = clean_line(text)
    return "".join(f"\\{char}" if char in "\\`*_[]<>|" else char for char in line)


FORMATS: dict[str, Writer] = {"lines": _lines, "xml": _xml, "markdown": _markdown}
"""Writers by format name: (skills, description length, number of omitted skills) → text."""
