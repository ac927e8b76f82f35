"""The reasons of a skill's score and rank: its explanation, and the skills ranked above it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from skillyard.base.errors import InvalidInput
from skillyard.base.operation import Bounds, Operation, Spelling
from skillyard.base.shapes import reasons as shapes
from skillyard.base.shapes.matches import Policy
from skillyard.base.shapes.reasons import Signal
from skillyard.base.text import clean_line, name_few, plural, shorten
from skillyard.engine.catalog import Catalog, has_tag
from skillyard.engine.catalog.requirements import RequirementChecker
from skillyard.engine.ranking.match import (
    Match,
    Pair,
    QueryRequest,
    eligible,
    in_order,
    score_query,
)
from skillyard.engine.ranking.protocol import Scorer
from skillyard.engine.ranking.query import Query, invokes
from skillyard.engine.ranking.registry import DEFAULT_SCORER
from skillyard.engine.ranking.scorer import Scored, level_of
from skillyard.engine.selection import Selection, SelectionPolicy, bounds, select
from skillyard.engine.skill import Origin, Skill

_LEADERS = 4
"""How many of the best skills are kept for the sentences."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WhyRequest(QueryRequest):
    """Explain the rank of one skill for a request."""

    name: Annotated[
        str,
        "The skill's name, id or slug.",
        Bounds(shortest=1, longest=500),
        Spelling(metavar="NAME"),
    ]
    limit: Annotated[
        int,
        "How many of the skills that rank higher to compare.",
        Bounds(least=0, most=50),
        Spelling(metavar="K"),
    ] = 5


WHY = Operation(
    "why",
    "Why one skill stands where it stands, and what beats it.",
    WhyRequest,
    ("GET", "/why"),
)


class HigherMatch(NamedTuple):
    """A skill that ranks higher, and the signals in which it differs, largest lead first."""

    rank: int
    match: Match
    signals: tuple[Signal, ...]
    because: str = ""
    """What decided, where it was not the score."""

    def document(self, *, explain: bool = False) -> shapes.Ahead:
        """Return the skill as a document shows it."""
        return shapes.Ahead(
            rank=self.rank,
            match=self.match.document(explain=explain),
            by=self.signals,
            because=self.because,
        )


class WhyResult(NamedTuple):
    """The explanation of one skill for one query."""

    query: Query
    scorer: str
    match: Match
    rank: int | None
    """1-based place among the skills with a score, or None when it is not among them."""
    total: int
    """How many skills have a score."""
    before: int
    """How many of them go before this one, or would if it were among them."""
    min_score: float
    """The floor of the scorer's own policy."""
    top_k: int
    ahead: tuple[HigherMatch, ...]
    """The best of the skills before it, best first."""
    hints: tuple[str, ...]
    selection: Selection
    """What is chosen for the query by the scorer's own policy."""
    leaders: tuple[Match, ...] = ()
    """The first skills with a score, best first, whatever the limit of ``ahead``."""
    behind: Match | None = None
    """The skill that comes next, or None."""
    left_out: tuple[str, ...] = ()
    """Why the skill may not be chosen, whatever its score; empty where it may."""
    blank: bool = False
    """True when the query holds nothing that the scorer looks at."""
    advice: tuple[str, ...] = ()
    """Those of the hints that the sentences do not say."""
    note: str = ""
    """Why the default scorer of a service did not rank; empty where it did."""
    decided: str = ""
    """What puts the best skill ahead of this one, or this one ahead of the next."""
    lacks: str = ""
    """What of the request the skill lacks, where it is not chosen."""

    @property
    def chosen(self) -> bool:
        """True when a selection with the scorer's own policy would take this skill."""
        return any(match.skill is self.match.skill for match in self.selection.selected)

    @property
    def best(self) -> Match | None:
        """The first skill with a score, or None."""
        return self.leaders[0] if self.leaders else None

    @property
    def sentences(self) -> tuple[str, str, str]:
        """What matched, what came close and what the floor did, for people."""
        return _matched(self), _close(self), _floor(self)

    def document(self, *, explain: bool = False) -> shapes.Why:
        """Return ``skillyard.why/1``; ``explain`` adds the trees of the skills before it."""
        return shapes.Why(
            query=self.query.document(),
            scorer=self.scorer,
            match=self.match.document(explain=True),
            rank=self.rank,
            total=self.total,
            before=self.before,
            policy=Policy(min_score=self.min_score, top_k=self.top_k),
            chosen=self.chosen,
            ahead=tuple(ahead.document(explain=explain) for ahead in self.ahead),
            hints=self.hints,
            sentences=self.sentences,
            note=self.note or None,
        )


def why_skill(
    catalog: Catalog,
    name: str,
    query: Query,
    *,
    scorer: str | Scorer = DEFAULT_SCORER,
    limit: int = 5,
) -> WhyResult:
    """Explain one skill's score and rank for a query, and up to ``limit`` skills above it.

    ``name`` is a name, id or slug. Raises SkillNotFound, AmbiguousName, UnknownName, InvalidInput.
    """
    if type(limit) is not int or limit < 0:
        raise InvalidInput("limit must be an integer of at least 0")
    skill = catalog.get(name)
    resolved, scored = score_query(catalog, query, scorer)
    pairs = eligible(catalog, query, zeros=False, scored=scored)
    same = (
        pair for pair in pairs if pair[0] is skill or (skill.path and pair[0].path == skill.path)
    )
    ours = next(same, None)  # an index may load a skill by its slug once more
    skill = skill if ours is None else ours[0]
    ranked = ours is not None
    ours = ours or (skill, _score(scored, skill))
    # A skill that is left out is compared from the place that its score would give it.
    order = in_order(pairs if ranked else [*pairs, ours], scored)
    place = next(place for place, pair in enumerate(order) if pair[0] is skill)
    match = _match(*ours, resolved, scored)
    ahead = tuple(
        _ahead(number, pair, match, resolved, scored)
        for number, pair in enumerate(order[: min(place, limit)])
    )
    min_score, top_k = bounds(SelectionPolicy(), scorer)
    leaders = [pair for pair in order[: _LEADERS + 1] if ranked or pair[0] is not skill]
    following = order[place + 1] if place + 1 < len(order) else None
    why = WhyResult(
        query=query,
        scorer=resolved.name,
        match=match,
        rank=place + 1 if ranked else None,
        total=len(pairs),
        before=place,
        min_score=min_score,
        top_k=top_k,
        ahead=ahead,
        hints=(),
        selection=select(catalog, query, scorer=scorer),
        leaders=tuple(_match(*pair, resolved, scored) for pair in leaders[:_LEADERS]),
        behind=None if following is None else _match(*following, resolved, scored),
        blank=query.empty or scored.blank,
    )
    rival = following if place == 0 else order[0]
    if ranked and rival is not None:
        first, second = (ours, rival) if place == 0 else (rival, ours)
        why = why._replace(decided=_decided(first, second, resolved, scored))
    if not why.chosen and not why.blank:
        why = why._replace(lacks=scored.what_lacks(skill))
    left_out = tuple(_left_out(catalog, why))
    advice = (*_lack_of_evidence(why), *_remarks(catalog, why))
    if ranked or (skill.origin == Origin.CONVENTION and not scored.is_preordered):
        lack = tuple(_lack(catalog, why))
        out: tuple[str, ...] = lack if ranked else left_out[:-1]  # such a scorer ranks conventions
    else:
        out = left_out
    return why._replace(hints=(*left_out, *advice), left_out=out, advice=advice)


def _score(scored: Scored, skill: Skill) -> float:
    if scored.is_preordered:  # it says the score of any skill, candidate or not
        return scored.explain(skill).value
    return next((score for other, score in scored.scores() if other is skill), 0.0)


def _match(skill: Skill, score: float, scorer: Scorer, scored: Scored) -> Match:
    return Match(skill, score, level_of(scorer.levels, score), scored)


def _ahead(place: int, pair: Pair, ours: Match, scorer: Scorer, scored: Scored) -> HigherMatch:
    theirs = _match(*pair, scorer, scored)
    because = _because(pair, (ours.skill, ours.score), scorer, scored)
    return HigherMatch(place + 1, theirs, _signals(theirs, ours), because)


def _because(first: Pair, second: Pair, scorer: Scorer, scored: Scored) -> str:
    """Return what orders two skills where it is not the score."""
    if scored.tier(first[0]) < scored.tier(second[0]):
        return "it stands in an earlier tier of this scorer, whatever the scores"
    if first[1] == second[1]:
        return f"equal scores are ordered by {scorer.default_policy.tie_break}"
    return ""


def _decided(first: Pair, second: Pair, scorer: Scorer, scored: Scored) -> str:
    """Return what puts the first of two skills ahead, as the end of a sentence."""
    if because := _because(first, second, scorer, scored):
        return f"; {because}"
    decided = shorten(clean_line(scored.what_decided(first[0], second[0])), _REASON_CHARS)
    return f"; {clean_line(first[0].name)} is ahead {decided}" if decided else ""


def _signals(theirs: Match, ours: Match) -> tuple[Signal, ...]:
    """Return the signals in which the two differ, those that put the other ahead first."""
    left, right = theirs.signals, ours.signals
    labels = dict.fromkeys([*left, *right])
    pairs = ((label, left.get(label, 0.0), right.get(label, 0.0)) for label in labels)
    differing = [
        Signal(signal=label, theirs=first, ours=second, lead=first - second)
        for label, first, second in pairs
        if first - second
    ]
    return tuple(sorted(differing, key=lambda signal: (-signal.lead, signal.signal)))


def _lack_of_evidence(why: WhyResult) -> Iterator[str]:
    """Return what is missing when there is no score."""
    if why.query.empty:
        yield "the query holds neither text nor files: there is nothing to look at"
    elif _FORBIDDEN in why.match.signals:
        spoken = _SPOKEN_ABOUT in why.match.reason
        yield f"the request {'only speaks about it' if spoken else 'excludes it by name'}"
    elif not why.match.score and _EXCLUSION not in why.match.signals:
        yield _no_evidence(why.match.skill, why.query)


def _remarks(catalog: Catalog, why: WhyResult) -> Iterator[str]:
    """Say what a reader of the numbers would not see in them."""
    skill = why.match.skill
    if skill.body is None or not skill.body.strip():
        yield "the skill has no instructions: there is nothing to inject"
    about = [each for each in catalog.diagnostics if each.path == skill.path]
    if about:
        yield f"{plural(len(about), 'remark')} on its file: {about[0].message}"


def _left_out(catalog: Catalog, why: WhyResult) -> Iterator[str]:
    skill, query = why.match.skill, why.query
    winner = catalog.shadowed.get(skill)
    if winner is not None:
        yield f"it is shadowed by {winner.path}, which has the same name and goes first"
    if skill.hidden and not invokes(query.text, skill):
        yield f"it is hidden from automatic choice: write @{skill.name} in the query to call it"
    if query.include_tags and not has_tag(skill, query.include_tags):
        yield f"it carries none of the tags {', '.join(query.include_tags)}"
    if query.exclude_tags and has_tag(skill, query.exclude_tags):
        yield f"it carries a tag that was excluded ({', '.join(query.exclude_tags)})"
    yield from _lack(catalog, why)
    if skill.origin == Origin.CONVENTION:
        yield "it is a convention document (AGENTS.md and kin), which agents read by themselves"


def _lack(catalog: Catalog, why: WhyResult) -> Iterator[str]:
    skill = why.match.skill
    lack = skill.requires and RequirementChecker(catalog.named, why.query.tools).lack(skill)
    if lack:
        yield lack


def _no_evidence(skill: Skill, query: Query) -> str:
    if query.text.strip() and query.files:
        what = "no word and no file of the query matches"
    elif query.files:
        what = "no file of the query matches its file patterns"
        if not skill.triggers.files:
            what = "it declares no file patterns (triggers: files:)"
    else:
        what = "no word of the query matches"
    return f"{what}; a description in the words that users say is what makes a skill findable"


# --- three sentences: what matched, what came close, what the floor did ---

_REASON_CHARS = 200
_MAX_DIGITS = 6


def shown_score(score: float, floor: float) -> str:
    """Return a score with two digits, or with as many as put it on its side of the floor.

    A score of 0.4996 is not printed as 0.50 where the floor is 0.5; six digits at most.
    """
    for digits in range(2, _MAX_DIGITS):
        if (round(score, digits) >= floor) == (score >= floor):
            return f"{score:.{digits}f}"
    return f"{score:.{_MAX_DIGITS}f}"


_FORBIDDEN = "forbidden"
"""The signal of ``hybrid`` for a skill that the request excludes, or only speaks about."""
_EXCLUSION = "avoid"
"""The signal of ``hybrid`` for a skill whose description excludes a part of the request."""
_SPOKEN_ABOUT = "spoken about"
"""In the reason of ``hybrid`` for a skill that the request only speaks about."""


def _matched(why: WhyResult) -> str:
    name, score = _name(why.match), why.match.score
    if why.blank:
        return f"There is nothing to match: the request holds nothing that {why.scorer} looks at."
    reason = shorten(clean_line(why.match.reason), _REASON_CHARS)
    if why.left_out:
        left_out = f"left out of the choice: {'; '.join(map(clean_line, why.left_out))}"
        if score <= 0:
            return f"{name} is {left_out}."
        return f"{name} scores {_score_words(why, score)} by {why.scorer}, but is {left_out}."
    if _FORBIDDEN in why.match.signals:
        verb = "only speaks about" if _SPOKEN_ABOUT in why.match.reason else "excludes"
        return f"The request {verb} {name}, so it has no rank."
    if why.rank is None:
        if why.match.signals.get(_EXCLUSION, 0.0) < 0:
            return f"{name} says that it is not for a part of the request, so it has no rank."
        least = "Nothing" if score <= 0 else "Too little"
        return f"{least} in the request matches {name}, so it has no rank{_lacks(why)}."
    place = f"rank {why.rank:,} of {why.total:,}"
    grounds = f" ({reason})" if reason else ""
    scores = f"{name} scores {_score_words(why, score)} by {why.scorer}"
    return f"{scores}, {place}{grounds}{_lacks(why)}."


def _lacks(why: WhyResult) -> str:
    return f"; {shorten(clean_line(why.lacks), _REASON_CHARS)}" if why.lacks else ""


def _close(why: WhyResult) -> str:
    if not why.total:
        return "No skill has a score."
    if why.rank == 1:
        if why.behind is None:
            return "No other skill has a score."
        return f"{_scored(why, why.behind)} comes next{why.decided}."
    if why.rank is None:
        best = _scored(why, why.best) if why.best is not None else "none"
        return f"Of {plural(why.total, 'skill')} with a score the best is {best}."
    others = name_few([_scored(why, match) for match in why.leaders[: why.before]], why.before)
    return f"{others} {'ranks' if why.before == 1 else 'rank'} higher{why.decided}."


def _floor(why: WhyResult) -> str:
    selected = why.selection.selected
    others = [match for match in selected if match.skill is not why.match.skill]
    floor, outcome = f"the floor of {why.min_score:.3g}", _outcome(why, others)
    if why.blank and not selected:
        return f"{outcome[0].upper()}{outcome[1:]}."
    if why.left_out:
        return f"No score helps a skill that is left out; {outcome}."
    no_floor = why.min_score <= 0
    if why.chosen:
        how = f"{why.scorer} has no floor;" if no_floor else f"It reaches {floor}, and"
        also = f", as one of {len(selected):,} skills" if others else ""
        return f"{how} it is chosen{also}."
    if why.rank is None:
        return f"Without a rank it is not chosen; {outcome}."
    if why.selection.left_to_user is not None:
        return f"It is not chosen: {outcome}."
    if why.match.score >= why.min_score:
        first = "the first" if why.top_k == 1 else f"the first {why.top_k:,}"
        how = f"{why.scorer} has no floor" if no_floor else f"It reaches {floor}"
        return f"{how}, but only {first} can be chosen: {_names(others)}."
    joint = ";" if others else ":"
    return f"It stays under the floor and is not chosen{joint} {outcome}."


def _outcome(why: WhyResult, others: Sequence[Match]) -> str:
    """Return what is selected instead, and by which floor."""
    if others:
        names, are = _names(others), _be(others)
        if why.min_score <= 0:
            return f"{names} {are} chosen"
        reach = "reaches" if len(others) == 1 else "reach"
        return f"{names} {reach} the floor of {why.min_score:.3g} and {are} chosen"
    if why.selection.left_to_user is not None:
        return "what fits best is a skill that only its user calls"
    none = "no skill is chosen"
    if why.min_score > 0:
        none = f"no skill reaches the floor of {why.min_score:.3g}, so none is chosen"
    maybe = why.selection.maybe
    return f"{none}; perhaps {_names(maybe)} {_be(maybe)} meant" if maybe else none


def _be(matches: Sequence[Match]) -> str:
    return "is" if len(matches) == 1 else "are"


def _names(matches: Sequence[Match]) -> str:
    return name_few([_name(match) for match in matches])


def _name(match: Match) -> str:
    return clean_line(match.skill.name)


def _scored(why: WhyResult, match: Match) -> str:
    return f"{_name(match)} ({_score_words(why, match.score)})"


def _score_words(why: WhyResult, score: float) -> str:
    return shown_score(score, why.min_score)
