"""The one protocol of every scorer, and the registry of their names.

A scorer is a frozen value that holds its constants. ``bind(catalog)`` once per snapshot gives a
bound scorer; ``bound.prepare(query)`` once per query gives a :class:`Scored`, whose ``scores()``
are pairs (skill, score) and whose ``explain(skill)`` is a tree. The score **is** the
explanation's value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable
from weakref import WeakKeyDictionary

from skillyard.errors import InvalidInput, UnknownName
from skillyard.ranking.query import Query
from skillyard.skill import Skill

__all__ = [
    "BoundScorer",
    "DefaultPolicy",
    "Explanation",
    "Level",
    "Scored",
    "Scorer",
    "bind",
    "level_of",
    "resolve",
    "scorer_names",
]

ENTRY_POINT_GROUP = "skillyard.scorers"


class Explanation(NamedTuple):
    """One node of the tree that says where a score comes from.

    ``op`` says how ``value`` follows from the parts: ``sum``, ``max``, ``product``, ``leaf``, or
    ``calibration`` for the one node that may sit on top of the raw score.
    """

    label: str
    value: float
    parts: tuple[Explanation, ...] = ()
    op: str = "sum"
    note: str = ""
    """What was matched, in a few words; holds text from skills and queries: clean it to print."""

    def to_dict(self) -> dict[str, object]:
        """Return the JSON shape, recursively."""
        node: dict[str, object] = {"label": self.label, "value": self.value, "op": self.op}
        if self.note:
            node["note"] = self.note
        if self.parts:
            node["parts"] = [part.to_dict() for part in self.parts]
        return node

    def raw(self) -> Explanation:
        """Return the node under a calibration, or the node itself."""
        return self.parts[0].raw() if self.op == "calibration" else self


class Level(NamedTuple):
    """A named band of scores: ``name`` holds from ``floor`` upwards."""

    floor: float
    name: str


class DefaultPolicy(NamedTuple):
    """What the scorer's document says about using the score."""

    min_score: float
    top_k: int
    menu_margin: float
    """Scores this close to the best are one choice for the user, not for us."""
    tie_break: str
    """What decides between equal scores, in words; name and path follow always."""


class Scored(ABC):
    """The scores of one query over one bound catalog. Immutable and thread-safe."""

    tiered = False
    """True when :meth:`tier` tells skills apart."""
    exhaustive = False
    """True when a skill that :meth:`scores` leaves out may not be chosen at all."""

    @abstractmethod
    def scores(self) -> Sequence[tuple[Skill, float]]:
        """Return the skills with a score other than zero, in catalog order."""

    @abstractmethod
    def explain(self, skill: Skill) -> Explanation:
        """Return the tree behind the skill's score; the root's value is the score."""

    def tier(self, skill: Skill) -> int:
        """Return a rank that goes before the score: tier 0 comes first, whatever its scores."""
        return 0

    def tie_break(self, skill: Skill) -> tuple[Any, ...]:
        """Return what orders equal scores, ascending; name and path follow."""
        return ()

    def reason(self, skill: Skill) -> str:
        """Return the score's grounds in one line."""
        parts = [part for part in self.explain(skill).raw().parts if part.value]
        parts.sort(key=lambda part: -part.value)
        notes = [f"{part.label}: {part.note}" if part.note else part.label for part in parts]
        return " | ".join(notes)


class BoundScorer(Protocol):
    """A scorer bound to one snapshot of skills."""

    @property
    def skills(self) -> Sequence[Skill]:
        """The skills it was bound to, in catalog order."""
        ...

    def prepare(self, query: Query) -> Scored:
        """Score the query; what depends on other candidates is settled here."""
        ...


@runtime_checkable
class Scorer(Protocol):
    """A ranking formula with its constants."""

    @property
    def name(self) -> str:
        """The registered name."""
        ...

    @property
    def scale(self) -> str:
        """What the numbers mean: ``0..1``, ``points`` or ``open``."""
        ...

    @property
    def levels(self) -> tuple[Level, ...]:
        """Named bands, highest floor first; empty when the document names none."""
        ...

    @property
    def default_policy(self) -> DefaultPolicy:
        """Threshold, count and tie-break of the scorer's document."""
        ...

    def bind(self, skills: Iterable[Skill]) -> BoundScorer:
        """Precompute what depends on the skills alone."""
        ...


def level_of(levels: tuple[Level, ...], score: float) -> str | None:
    """Return the name of the band that ``score`` falls in, or None when there are no bands."""
    for level in levels:
        if score >= level.floor:
            return level.name
    return levels[-1].name if levels else None


_BUILT_IN = {
    "confidence": "skillyard.ranking.confidence:CONFIDENCE",
    "overlap": "skillyard.ranking.overlap:OVERLAP",
    "relevance": "skillyard.ranking.relevance:RELEVANCE",
    "triggers": "skillyard.ranking.triggers:TRIGGERS",
}

DEFAULT_SCORER = "overlap"
"""What answers where a caller names no scorer."""


def scorer_names() -> tuple[str, ...]:
    """Return the registered names, sorted: the built-in ones and those of installed packages."""
    return tuple(sorted({*_BUILT_IN, *_entry_points()}))


def resolve(scorer: str | Scorer | Any) -> Scorer:
    """Return the scorer of that name, or the scorer (or documented ``Ranker``) itself.

    Raises UnknownName, listing the known ones, and InvalidInput for anything else.
    """
    if isinstance(scorer, str):
        return _by_name(scorer)
    if isinstance(scorer, Scorer):
        return scorer
    if callable(getattr(scorer, "rank", None)):
        from skillyard.ranking.ranker import RankerScorer

        return RankerScorer(scorer)
    raise InvalidInput(
        f"scorer must be a name, a Scorer or an object with rank(), not {type(scorer).__name__}"
    )


def _by_name(name: str) -> Scorer:
    target = _BUILT_IN.get(name)
    if target is not None:
        module, _, attribute = target.partition(":")
        return cast(Scorer, getattr(import_module(module), attribute))
    load = _entry_points().get(name)
    if load is None:
        raise UnknownName("scorer", name, scorer_names())
    found = load()
    return resolve(found() if isinstance(found, type) else found)


def _entry_points() -> dict[str, Callable[[], Any]]:
    from importlib.metadata import entry_points  # slow to import; only unknown names get here

    return {point.name: point.load for point in entry_points(group=ENTRY_POINT_GROUP)}


_bound: WeakKeyDictionary[Any, dict[Any, BoundScorer]] = WeakKeyDictionary()


def bind(catalog: Iterable[Skill], scorer: Scorer) -> BoundScorer:
    """Return the scorer bound to the catalog, kept for as long as the catalog lives."""
    try:
        kept = _bound.setdefault(catalog, {})
        bound = kept.get(scorer)
    except TypeError:  # a list of skills, or an unhashable scorer: bind anew
        return scorer.bind(catalog)
    if bound is None:
        bound = kept[scorer] = scorer.bind(catalog)
    return bound
