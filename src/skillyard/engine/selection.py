"""Selection: selects skills of a ranking by a policy, or abstains."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.base.arguments import Texts, conversion, set_field, text_items
from skillyard.base.errors import InvalidInput
from skillyard.engine.catalog import Catalog, has_tag
from skillyard.engine.ranking.match import Match, Pair, eligible, in_order, score_query
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import DEFAULT_SCORER, bind, resolve
from skillyard.engine.ranking.scorer import OrderedScores, Scored, floor_of, level_of, maybe_of
from skillyard.engine.skill import Skill

if TYPE_CHECKING:
    from skillyard.engine.catalog.requirements import RequirementChecker
    from skillyard.engine.ranking.protocol import Scorer

MAX_REJECTED = 10
"""Number of rejected skills in a selection; ``considered`` counts all candidates."""
LEFT_TO_USER = "below a skill that only its user calls"
"""Says no name: models read it too, and hidden skills are hidden from them."""
MENU_SIZE = 3
"""adk-skill, "The Menu Pattern": the top three."""


@dataclass(frozen=True, slots=True)
class SelectionPolicy:
    """The rules of a selection. None means the default policy of the scorer.

    Raises InvalidInput for wrong types, a negative ``top_k``, a ``min_score`` that is NaN, a
    ``wrong_cost`` that is not positive and finite, and for ``min_score`` together with
    ``wrong_cost``.
    """

    top_k: int | None = None
    min_score: float | None = None
    """The lowest score of a selected skill."""
    include_tags: Texts = conversion(())
    """Only skills with at least one of these tags are selected."""
    exclude_tags: Texts = conversion(())
    fallback_tag: str | None = None
    """adk-skill, "Generalist Fallback": the tag of the skill to select when no skill passes."""
    wrong_cost: float | None = None
    """The cost of a wrong skill when a missed skill costs 1 (``hybrid``: 2). It determines the
    lowest score: a skill is selected from p = wrong_cost / (wrong_cost + 1), 2/3 by default, where
    the expected costs (1 - p) · wrong_cost of selecting and p of not selecting are equal.
    ``Selection.maybe`` starts at wrong_cost / (wrong_cost + 6), 1/4 by default: a needless question
    costs a sixth of a wrong skill. Only for scorers whose score is a probability."""

    def __post_init__(self) -> None:
        if self.top_k is not None and self.top_k < 0:
            raise InvalidInput("top_k must be an integer of at least 0", field="top_k")
        if self.min_score is not None and self.min_score != self.min_score:
            raise InvalidInput("min_score must be a number, not NaN", field="min_score")
        if self.wrong_cost is not None:
            if not 0 < self.wrong_cost < float("inf"):
                raise InvalidInput(
                    "wrong_cost must be a number above 0, and finite", field="wrong_cost"
                )
            if self.min_score is not None:
                raise InvalidInput(
                    "min_score and wrong_cost both set the floor: give one of them",
                    field="wrong_cost",
                )
        for name in ("include_tags", "exclude_tags"):
            if (value := getattr(self, name)) != ():
                set_field(self, name, text_items(name, value))

    def replace(self, **changes: Any) -> SelectionPolicy:
        """Return a copy with the named fields changed. Raises TypeError for an unknown one."""
        return replace(self, **changes)


def policy_with(
    policy: SelectionPolicy | None, min_score: float | None, top_k: int | None
) -> SelectionPolicy:
    """Return the policy with these values; None keeps the policy's own.

    Raises InvalidInput for a value that the policy sets too, and for one out of range.
    """
    bounds = {"min_score": min_score, "top_k": top_k}
    values = {name: value for name, value in bounds.items() if value is not None}
    if policy is None:
        return SelectionPolicy(**values)  # type: ignore[arg-type]
    for name in values:
        if getattr(policy, name) is not None:
            raise InvalidInput(
                f"{name} is given twice: leave it out here, or in the policy", field=name
            )
    return policy.replace(**values) if values else policy


class Selection(NamedTuple):
    """The result of a selection: selected and rejected skills."""

    selected: tuple[Match, ...]
    rejected: tuple[Match, ...]
    """Up to ten of the best other skills, each with ``rejected_because``."""
    considered: int
    """Number of skills that were offered for choice, as the scorer counts them: ``hybrid`` counts
    all of its index, the others those that tags leave; 0 for an empty request."""
    abstained: bool
    """True when no skill passed and no fallback was selected."""
    fallback: bool
    """True when the selected skill is the policy's generalist."""
    scorer: str
    menu: tuple[Match, ...] = ()
    """Two or three skills with nearly equal scores, for the user to choose; otherwise empty."""
    maybe: tuple[Match, ...] = ()
    """When no skill passes, up to three that nearly do, to ask the user about."""
    left_to_user: Skill | None = None
    """The hidden skill that fits best; then nothing is selected in its place."""
    close: tuple[Match, ...] = ()
    """When a skill passes, up to three behind the first that come as near as ``maybe``: where the
    choice is wrong, the right one is mostly there. Empty where the request sets something aside."""

    @property
    def best(self) -> Match | None:
        """The first selected skill; None for an abstention."""
        return self.selected[0] if self.selected else None

    def __bool__(self) -> bool:
        """False for an abstention."""
        return bool(self.selected)


def select(
    catalog: Catalog | Iterable[Skill],
    query: str | Query,
    policy: SelectionPolicy | None = None,
    scorer: str | Scorer | Any = DEFAULT_SCORER,
    *,
    min_score: float | None = None,
    top_k: int | None = None,
) -> Selection:
    """Select skills for a query, or abstain.

    ``min_score`` and ``top_k`` set the policy fields of the same names; setting a field twice is an
    error. The policy's tags are added to the query's. An empty query selects only a fallback,
    unless it has include tags. Raises UnknownName, InvalidInput.
    """
    if policy is None or min_score is not None or top_k is not None:
        policy = policy_with(policy, min_score, top_k)
    request = query if isinstance(query, Query) else Query(query)
    tagged = request
    if policy.include_tags or policy.exclude_tags:
        tagged = _with_policy_tags(request, policy)
    if not isinstance(catalog, Catalog):
        catalog = Catalog.from_skills(catalog)
    resolved = resolve(scorer)
    scored = bind(catalog, resolved).prepare(tagged)
    least, top_k = bounds(policy, resolved)
    pairs = _pairs(catalog, request, policy, scored)
    considered = len(pairs) if not pairs or scored.considered is None else scored.considered
    passed = _at_least(least, pairs)
    lacks = Refusals(catalog, request, scored)
    best = _best(passed, scored, max(top_k + MAX_REJECTED, MENU_SIZE), lacks)
    ordered = [_match(pair, resolved, scored, lacks.of(pair[0])) for pair in best]
    matches = [match for match in ordered if not match.rejected_because]
    selected = tuple(matches[:top_k])
    generalist = None
    if not (selected or lacks.left_to_user) and top_k and policy.fallback_tag is not None:
        generalist = _fallback(catalog, request, policy, scored)
    if generalist is not None:
        selected = (_match(generalist, resolved, scored),)
    for match in selected:
        lacks.note(match)
    rejected = _rejections(pairs, ordered, selected, least, top_k, resolved, scored)
    defaults = resolved.default_policy
    # Worth a question, and could be selected.
    least = defaults.maybe if policy.wrong_cost is None else maybe_of(policy.wrong_cost)
    near = [each for each in rejected if each.score >= least and not lacks.of(each.skill)]
    near = near[: MENU_SIZE if top_k else 0]
    return Selection(
        selected,
        rejected,
        considered,
        abstained=not selected,
        fallback=generalist is not None,
        scorer=resolved.name,
        menu=_menu(matches, defaults.menu_margin) if top_k and len(matches) > 1 else (),
        maybe=() if matches else tuple(near),
        left_to_user=lacks.left_to_user,
        close=(*selected[1:], *near)[:MENU_SIZE] if matches and not scored.sets_aside else (),
    )


def survivors(
    catalog: Catalog,
    query: str | Query,
    policy: SelectionPolicy | None = None,
    *,
    scorer: str | Scorer | Any = DEFAULT_SCORER,
    with_fallback: bool = False,
) -> Iterator[Match]:
    """Yield every skill that reaches the lowest score, best first, without the limit ``top_k``.

    Skills whose requirements are not met are left out. ``with_fallback`` yields the policy's
    generalist last.
    """
    policy = policy or SelectionPolicy()
    request = query if isinstance(query, Query) else Query(query)
    resolved, scored = score_query(catalog, _with_policy_tags(request, policy), scorer)
    least, _ = bounds(policy, resolved)
    pairs = _pairs(catalog, request, policy, scored)
    lacks = Refusals(catalog, request, scored)
    for pair in in_order(_at_least(least, pairs), scored):
        if not lacks.of(pair[0]):
            match = _match(pair, resolved, scored)
            lacks.note(match)
            yield match
    if with_fallback and policy.fallback_tag is not None:
        generalist = _fallback(catalog, request, policy, scored)
        if generalist is not None:
            yield _match(generalist, resolved, scored)


def bounds(policy: SelectionPolicy, scorer: str | Scorer) -> tuple[float, int]:
    """Return (lowest score of a selected skill, top_k) of a policy under a scorer.

    Raises InvalidInput for a ``wrong_cost`` with a scorer whose score is not a probability.
    """
    if isinstance(scorer, str) or not hasattr(scorer, "default_policy"):
        scorer = resolve(scorer)
    defaults = scorer.default_policy
    top_k = defaults.top_k if policy.top_k is None else policy.top_k
    if policy.wrong_cost is None:
        return defaults.min_score if policy.min_score is None else policy.min_score, top_k
    if defaults.wrong_cost is None:
        raise InvalidInput(
            f"wrong_cost needs a score that is a probability, which {scorer.name}'s is not:"
            " give min_score",
            field="wrong_cost",
        )
    return floor_of(policy.wrong_cost), top_k


def _with_policy_tags(query: Query, policy: SelectionPolicy) -> Query:
    """Return the query with the policy's tags, as far as a query can express them."""
    if policy.exclude_tags:
        query = query.replace(exclude_tags=(*query.exclude_tags, *policy.exclude_tags))
    if policy.include_tags and not query.include_tags:
        query = query.replace(include_tags=policy.include_tags)
    return query


def _at_least(least: float, pairs: Sequence[Pair]) -> Sequence[Pair]:
    if isinstance(pairs, OrderedScores):
        return pairs[: bisect_right(pairs.negated, -least)]
    return [pair for pair in pairs if pair[1] >= least]


def _pairs(
    catalog: Catalog, query: Query, policy: SelectionPolicy, scored: Scored
) -> Sequence[Pair]:
    """Return the candidates with their scores; none for an empty query.

    A preordered scorer gives those that it found, any other one all, including zeros.
    """
    # An empty query is blank to a preordered scorer.
    is_blank = scored.blank or (not scored.is_preordered and query.empty)
    if is_blank and not (query.include_tags or policy.include_tags):
        return []
    has_tags = bool(policy.include_tags and query.include_tags)
    if scored.is_preordered and not has_tags:
        return scored.scores()  # the scorer has applied the policy's tags
    pairs = eligible(catalog, query, zeros=True, scored=scored)
    if policy.include_tags:
        pairs = [pair for pair in pairs if has_tag(pair[0], policy.include_tags)]
    if policy.exclude_tags:
        pairs = [pair for pair in pairs if not has_tag(pair[0], policy.exclude_tags)]
    return pairs


def _match(pair: Pair, scorer: Scorer, scored: Scored, because: str = "") -> Match:
    return Match(pair[0], pair[1], level_of(scorer.levels, pair[1]), scored, because)


def _fallback(
    catalog: Catalog, query: Query, policy: SelectionPolicy, scored: Scored
) -> Pair | None:
    """Return the best skill with the fallback tag; skills without declared tools come first."""
    tagged_query = query.replace(include_tags=(policy.fallback_tag or "",))
    pairs: Sequence[Pair] = candidates_with_tag(catalog, tagged_query, scored)
    pairs = [pair for pair in pairs if not has_tag(pair[0], policy.exclude_tags)]
    free = [pair for pair in pairs if not pair[0].allowed_tools]
    ordered = in_order(free or pairs, scored, 1)
    return ordered[0] if ordered else None


def candidates_with_tag(catalog: Catalog, query: Query, scored: Scored) -> Sequence[Pair]:
    """Return every candidate with one of the query's tags, whatever its score.

    Skills whose requirements are not met are left out.
    """
    lacks = Refusals(catalog, query)
    if not scored.is_preordered:
        pairs = eligible(catalog, query, zeros=True, scored=scored)
        return [pair for pair in pairs if not lacks.of(pair[0])]
    return [
        (skill, scored.explain(skill).value)
        for skill in catalog.candidates
        if not skill.hidden
        and has_tag(skill, query.include_tags)
        and not has_tag(skill, query.exclude_tags)
        and not lacks.of(skill)
    ]


class Refusals:
    """Why skills that pass are not selected: unmet requirements, or a hidden skill fits better."""

    def __init__(self, catalog: Catalog, query: Query, scored: Scored | None = None) -> None:
        """Without ``scored``, hidden skills are not looked at."""
        self._catalog = catalog
        self._tools = query.tools
        self.left_to_user = None if scored is None else scored.left_to_user

    def of(self, skill: Skill) -> str:
        """Return why a skill cannot be selected, or ``""``."""
        if self.left_to_user is not None and not skill.hidden:
            return LEFT_TO_USER
        return self._checker.lack(skill) if skill.requires else ""

    def note(self, match: Match) -> None:
        """Note in a match what its skill requires, and where else it is."""
        match.variants = self._catalog.variants(match.skill)
        if match.skill.requires:
            match.required = self._checker.required(match.skill)
            match.unchecked_tools = self._checker.unchecked_tools(match.skill)

    @cached_property
    def _checker(self) -> RequirementChecker:
        # deferred: rarely needed
        from skillyard.engine.catalog.requirements import RequirementChecker

        return RequirementChecker(self._catalog.named, self._tools)


def _best(passed: Sequence[Pair], scored: Scored, count: int, lacks: Refusals) -> list[Pair]:
    """Return the first pairs in their order, enough for ``count`` skills that lack nothing."""
    limit = count
    while True:
        best = list(passed[:limit]) if scored.is_preordered else in_order(passed, scored, limit)
        if len(best) < limit:
            return best
        if sum(not lacks.of(skill) for skill, _ in best) >= count:
            return best
        limit *= 2


def _rejections(
    pairs: Sequence[Pair],
    passed: Sequence[Match],
    selected: Sequence[Match],
    least: float,
    top_k: int,
    scorer: Scorer,
    scored: Scored,
) -> tuple[Match, ...]:
    chosen = {id(match.skill) for match in selected}
    beyond_top = f"beyond the first {top_k}"
    beyond = [
        _match((m.skill, m.score), scorer, scored, m.rejected_because or beyond_top)
        for m in passed
        if id(m.skill) not in chosen
    ][:MAX_REJECTED]
    room = MAX_REJECTED - len(beyond)
    if isinstance(pairs, OrderedScores):  # load only the skills that are listed
        first = bisect_right(pairs.negated, -least)
        pairs = pairs[first : first + room + len(chosen)]
    below = [pair for pair in pairs if 0 < pair[1] < least and id(pair[0]) not in chosen]
    below_floor = f"below the floor of {least:.3g}"
    best = below[:room] if scored.is_preordered else in_order(below, scored, room)
    return (*beyond, *(_match(pair, scorer, scored, below_floor) for pair in best))


def _menu(matches: Sequence[Match], margin: float) -> tuple[Match, ...]:
    close = [match for match in matches[:MENU_SIZE] if matches[0].score - match.score <= margin]
    return tuple(close) if len(close) > 1 else ()


def menu_text(selection: Selection) -> str:
    """Return the question to put to the user when skills are too close to choose, else ``""``."""
    if not selection.menu:
        return ""
    shown = labels([match.skill for match in selection.menu], by_title=True)
    names = [f"**{label}**{detail}" for label, detail in shown]
    choice = f"{', '.join(names[:-1])} or {names[-1]}"
    return f"Several skills could help. Which one should be used: {choice}?"


def labels(skills: Sequence[Skill], *, by_title: bool = False) -> list[tuple[str, str]]:
    """Return the name of each skill, and what tells it from others of the same name.

    That is `` (PATH)``, below the folder that these skills have in common. ``by_title`` takes the
    title where there is one, and `` (NAME)`` where only the titles are equal.
    """
    shown = []
    for skill in skills:
        named = [each for each in skills if each.name == skill.name]
        steps = zip(*map(_parts, named), strict=False)
        common = sum(1 for _ in takewhile(lambda step: len(set(step)) == 1, steps))
        place = "/".join(_parts(skill)[common:]) or ("." if skill.path else skill.id)
        title = (by_title and skill.title) or skill.name
        same = [each for each in skills if ((by_title and each.title) or each.name) == title]
        detail = place if len(named) > 1 else skill.name if len(same) > 1 else ""
        shown.append((title, detail and f" ({detail})"))
    return shown


def _parts(skill: Skill) -> list[str]:
    """Return the steps to a skill's folder, or to its file where that is no SKILL.md."""
    parts = skill.key[1].split("/")
    return parts[:-1] if parts[-1].lower() == "skill.md" else parts
