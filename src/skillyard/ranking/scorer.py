"""The one protocol of every scorer.

A scorer is a frozen value that holds its constants. ``bind(catalog)`` once per snapshot gives a
bound scorer; ``bound.prepare(query)`` once per query gives a :class:`Scored`, whose ``scores()``
are pairs (skill, score) and whose ``explain(skill)`` is a tree. The score **is** the
explanation's value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from skillyard.ranking.query import Query
from skillyard.skill import Skill

__all__ = [
    "BoundScorer",
    "DefaultPolicy",
    "Explanation",
    "Level",
    "Scored",
    "Scorer",
    "level_of",
]


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

    @property
    def blank(self) -> bool:
        """True when the query holds nothing that this scorer looks at: nothing may be chosen."""
        return False

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
