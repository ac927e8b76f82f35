"""Ranking: what surfaces ask for it, and the matches of a query in their total order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import InvalidInput
from skillyard.base.operation import Bounds, Spelling
from skillyard.base.shapes import matches as shapes
from skillyard.base.shapes.encoder import encode
from skillyard.engine.catalog import Catalog, has_tag
from skillyard.engine.ranking.query import Query, called_words, invokes
from skillyard.engine.ranking.registry import BUILT_IN, DEFAULT_SCORER, bind, resolve
from skillyard.engine.ranking.scorer import Explanation, OrderedScores, Scored, level_of
from skillyard.engine.skill import Skill

if TYPE_CHECKING:
    from skillyard.engine.ranking.protocol import Scorer

REQUEST_CHARS = 20_000
"""A request in words: prompts that carry a page of text pass."""


IncludeTags = Annotated[
    tuple[str, ...],
    "Only skills with one of these tags.",
    Bounds(),
    Spelling(flag="--tag", metavar="TAG"),
]
ExcludeTags = Annotated[
    tuple[str, ...],
    "No skills with one of these tags.",
    Bounds(),
    Spelling(flag="--not-tag", metavar="TAG"),
]
Tools = Annotated[
    tuple[str, ...],
    "Tools that you have; skills that need others drop out.",
    Bounds(items=1_000),
    Spelling(flag="--tool", metavar="NAME"),
]
ScorerName = Annotated[
    str | None,
    f"{', '.join(BUILT_IN)}, or a plugin's.",
    Bounds(shortest=1, longest=100),
    Spelling(metavar="NAME"),
]
MinScore = Annotated[float | None, "The score to reach.", Bounds(), Spelling(metavar="X")]
WrongCost = Annotated[
    float | None,
    "What a wrong skill costs where a missed one costs 1; not with min_score.",
    Bounds(above=0),
    Spelling(metavar="X"),
]
FallbackTag = Annotated[
    str | None,
    "The tag of the skill to take when none reaches it.",
    Bounds(shortest=1),
    Spelling(flag="--fallback", metavar="TAG", on=("cli", "http")),
]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class QueryRequest:
    """A request in words and files, and how skills are ranked for it."""

    query: Annotated[
        str,
        "The request, as the user put it.",
        Bounds(longest=REQUEST_CHARS),
        Spelling(("text", "q"), metavar="QUERY", by_place=True),
    ] = ""
    files: Annotated[
        tuple[str, ...],
        "File paths in play; never opened.",
        Bounds(items=200),
        Spelling(metavar="PATH"),
    ] = ()
    recent_activity: Annotated[
        tuple[str, ...],
        "What was done lately.",
        Bounds(items=200),
        Spelling(("recentActivity",), "--recent", "WHAT"),
    ] = ()
    include_tags: IncludeTags = ()
    exclude_tags: ExcludeTags = ()
    include_references: Annotated[
        bool,
        "Count the Markdown files beside each skill; only relevance does.",
        Spelling(flag="--references", on=("cli", "http")),
    ] = False
    tools: Tools = ()
    scorer: ScorerName = None
    explain: Annotated[bool, "Add the tree behind each score.", Spelling(on=("cli", "http"))] = (
        False
    )

    def as_query(self) -> Query:
        """Return what a scorer may look at."""
        return Query(
            self.query,
            self.files,
            self.recent_activity,
            self.include_tags,
            self.exclude_tags,
            self.include_references,
            tools=self.tools,
        )


Pair = tuple[Skill, float]


class Match:
    """One skill in a ranking. Its explanation is computed on access."""

    __slots__ = (
        "_explanation",
        "_scored",
        "level",
        "rejected_because",
        "required",
        "score",
        "skill",
        "unchecked_tools",
        "variants",
    )

    def __init__(
        self,
        skill: Skill,
        score: float,
        level: str | None,
        scored: Scored,
        rejected_because: str = "",
    ) -> None:
        self.skill = skill
        self.score = score
        self.level = level
        """The scorer's band for this score; None for a scorer without bands."""
        self.rejected_because = rejected_because
        """Why a selection rejected it, or why none could select it; empty for selected skills."""
        self.required: tuple[Skill, ...] = ()
        """The skills that a selected one requires, each after its own requirements."""
        self.unchecked_tools: tuple[str, ...] = ()
        """The tools that a selected one requires, when the caller did not name its own."""
        self.variants: tuple[Skill, ...] = ()
        """The further places of the skill in its catalog: copies, and nearly equal texts."""
        self._scored = scored
        self._explanation: Explanation | None = None

    @property
    def explanation(self) -> Explanation:
        """The explanation tree; its value is the score."""
        if self._explanation is None:
            self._explanation = self._scored.explain(self.skill)
        return self._explanation

    @property
    def signals(self) -> Mapping[str, float]:
        """The parts of the raw score by label."""
        return self._scored.signals(self.skill)

    @property
    def reason(self) -> str:
        """The reason in one line. It contains untrusted text: clean it before printing."""
        return self._scored.reason(self.skill)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Match):
            return NotImplemented
        return (self.skill, self.score, self.level) == (other.skill, other.score, other.level)

    def __hash__(self) -> int:
        return hash((self.skill, self.score))

    def __repr__(self) -> str:
        return f"Match({self.skill.name!r}, {self.score:.4g}, {self.level!r})"

    def document(self, *, explain: bool = False) -> shapes.MatchDocument:
        """Return the match as a document shows it; ``explain`` adds the tree behind the score."""
        return shapes.MatchDocument(
            name=self.skill.name,
            id=self.skill.id,
            slug=self.skill.slug,
            path=self.skill.path,
            score=self.score,
            level=self.level,
            reason=self._scored.reason(self.skill),
            signals=self._scored.signals(self.skill),
            rejected_because=self.rejected_because,
            requires=tuple(skill.name for skill in self.required),
            unchecked_tools=self.unchecked_tools,
            variants=tuple(shapes.Variant(path=each.path, id=each.id) for each in self.variants),
            explanation=self.explanation.document() if explain else None,
        )

    @check_arguments
    def to_dict(self, *, explain: bool = False) -> dict[str, Any]:
        """Return the JSON shape of a match, as every command prints it."""
        members: dict[str, Any] = encode(self.document(explain=explain))
        return members


def score_query(
    catalog: Catalog | Iterable[Skill], query: Query, scorer: str | Scorer | Any
) -> tuple[Scorer, Scored]:
    """Return the scorer and its scores of the query over the catalog. Raises UnknownName."""
    resolved = resolve(scorer)
    return resolved, bind(catalog, resolved).prepare(query)


def eligible(
    catalog: Catalog | Iterable[Skill], query: Query, *, zeros: bool, scored: Scored
) -> Sequence[Pair]:
    """Return the candidates of the query with their scores, in catalog order.

    Left out are shadowed skills, hidden skills that the text does not call, and skills that the
    query's tags exclude. ``zeros`` adds the candidates with a score of 0. A preordered scorer
    applies all of this itself, has no zeros, and its total order is returned.
    """
    if scored.is_preordered:
        return scored.scores()
    pairs: Sequence[Pair] = list(scored.scores())
    skills = catalog.skills if isinstance(catalog, Catalog) else tuple(catalog)
    if zeros and not scored.exhaustive and len(pairs) < len(skills):
        scores = {id(skill): score for skill, score in pairs}
        pairs = [(skill, scores.get(id(skill), 0.0)) for skill in skills]
    out = _unranked_ids(catalog, skills, query)
    if out:
        pairs = [pair for pair in pairs if id(pair[0]) not in out]
    if query.include_tags:
        pairs = [pair for pair in pairs if has_tag(pair[0], query.include_tags)]
    if query.exclude_tags:
        pairs = [pair for pair in pairs if not has_tag(pair[0], query.exclude_tags)]
    return pairs


def _unranked_ids(
    catalog: Catalog | Iterable[Skill], skills: Sequence[Skill], query: Query
) -> set[int]:
    called = called_words(query.text)
    out = {
        id(skill)
        for skill in skills
        if skill.hidden and not (called and invokes(query.text, skill, called))
    }
    if isinstance(catalog, Catalog):
        out.update(id(skill) for skill in catalog.shadowed)
    return out


def in_order(pairs: Sequence[Pair], scored: Scored, limit: int | None = None) -> list[Pair]:
    """Return the pairs in their total order, the first ``limit`` of them.

    Order: tier, score (higher first), the scorer's tie-break, name, path.
    """
    if limit is not None and limit <= 0:
        return []
    if isinstance(pairs, OrderedScores):
        return pairs[:limit]
    if not scored.tiered:
        return _sort_pairs(_head(pairs, limit), scored)[:limit]
    tiers: dict[int, list[Pair]] = {}
    for pair in pairs:
        tiers.setdefault(scored.tier(pair[0]), []).append(pair)
    ordered: list[Pair] = []
    for tier in sorted(tiers):
        left = None if limit is None else limit - len(ordered)
        if left == 0:
            break
        ordered += _sort_pairs(_head(tiers[tier], left), scored)[:left]
    return ordered


def _head(pairs: Sequence[Pair], limit: int | None) -> Sequence[Pair]:
    """Return the pairs that can be among the first ``limit``, so that fewer keys are computed."""
    if limit is None or len(pairs) <= 4 * limit:
        return pairs
    from heapq import nlargest  # deferred: not used by preordered scorers

    floor = nlargest(limit, (score for _, score in pairs))[-1]
    return [pair for pair in pairs if pair[1] >= floor]


def _sort_pairs(pairs: Sequence[Pair], scored: Scored) -> list[Pair]:
    return sorted(pairs, key=lambda p: (-p[1], scored.tie_break(p[0]), p[0].key))


def rank(
    catalog: Catalog | Iterable[Skill],
    text: str = "",
    files: Iterable[str] | None = (),
    recent_activity: Iterable[str] | None = (),
    include_tags: Iterable[str] | None = (),
    exclude_tags: Iterable[str] | None = (),
    include_references: bool = False,
    scorer: str | Scorer | Any = DEFAULT_SCORER,
    limit: int | None = 10,
) -> list[Match]:
    """Return the skills ranked for a query, best first, without a minimum score.

    Skills with a score of 0 are left out unless the scorer lists every skill. ``limit=None``
    returns the whole ranking. Raises UnknownName for an unknown scorer, InvalidInput for wrong
    types.
    """
    if limit is not None and limit < 0:
        raise InvalidInput("limit must be None or an integer of at least 0")
    query = Query(text, files, recent_activity, include_tags, exclude_tags, include_references)
    if not isinstance(catalog, Catalog):
        catalog = Catalog.from_skills(catalog)
    resolved, scored = score_query(catalog, query, scorer)
    pairs = eligible(catalog, query, zeros=False, scored=scored)
    matches = [
        Match(skill, score, level_of(resolved.levels, score), scored)
        for skill, score in in_order(pairs, scored, limit)
    ]
    for match in matches:
        match.variants = catalog.variants(match.skill)
    return matches
