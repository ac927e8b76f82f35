"""What every scorer gives: the scores of one query, their order, and the tree behind each.

A scorer (:mod:`.protocol`) is a frozen value that holds its constants. ``bind(catalog)`` once per
snapshot gives a bound scorer; ``bound.prepare(query)`` once per query gives a :class:`Scored`,
whose ``scores()`` are pairs (skill, score) and whose ``explain(skill)`` is a tree. The score **is**
the explanation's value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from skillyard.arguments import check_arguments
from skillyard.shapes import matches as shapes
from skillyard.shapes.encoder import encode, from_attributes
from skillyard.skill import Skill

__all__ = [
    "DefaultPolicy",
    "Explanation",
    "Level",
    "Ordered",
    "Scored",
    "floor_of",
    "level_of",
    "maybe_of",
]


@check_arguments
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

    def document(self) -> shapes.Explanation:
        """Return the tree as a document shows it."""
        parts = tuple(part.document() for part in self.parts)
        return from_attributes(shapes.Explanation, self, parts=parts)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON shape, recursively."""
        node: dict[str, object] = encode(self.document())
        return node

    def raw(self) -> Explanation:
        """Return the node under a calibration, or the node itself."""
        return self.parts[0].raw() if self.op == "calibration" else self


@check_arguments
class Level(NamedTuple):
    """A named band of scores: ``name`` holds from ``floor`` upwards."""

    floor: float
    name: str


@check_arguments
class DefaultPolicy(NamedTuple):
    """What the scorer's document says about using the score."""

    min_score: float
    top_k: int
    menu_margin: float
    """Scores this close to the best are one choice for the user, not for us."""
    tie_break: str
    """What decides between equal scores, in words; name and path follow always."""
    maybe: float = float("inf")
    """Scores from here to the floor are shown where nothing is chosen: far likelier than chance.
    Infinity where the scorer knows no such thing."""
    wrong_cost: float | None = None
    """What a wrong skill costs where a missed one costs 1, as ``min_score`` and ``maybe`` take it;
    None where the score is no probability, so that no floor follows from costs."""


def floor_of(wrong_cost: float) -> float:
    """Return the probability from which choosing a skill costs less than leaving it.

    A skill that fits with probability p costs (1 - p) · wrong_cost on average where it is chosen,
    and p · 1, the price of a missed skill, where it is not. Choosing is no dearer from
    p = wrong_cost / (wrong_cost + 1) on: 2/3 where a wrong skill costs twice as much as a missed
    one.
    """
    return wrong_cost / (wrong_cost + 1.0)


QUESTION = 1 / 6
"""What a needless question costs, as a share of what a wrong skill costs."""


def maybe_of(wrong_cost: float) -> float:
    """Return the probability from which a question costs less than saying nothing.

    The same weighing as :func:`floor_of`, of a needless question (:data:`QUESTION` of a wrong
    skill) against a missed skill: 1/4 where a wrong skill costs twice as much as a missed one.
    """
    return floor_of(QUESTION * wrong_cost)


class Ordered(Sequence[tuple[Skill, float]]):
    """Scores in their total order, best first; a skill is loaded when its pair is looked at.

    Made of (ordinal, score) and a function from ordinals to skills. Equal scores are ordered by
    name and path, so only skills of equal scores need to be loaded to be put in order.
    """

    __slots__ = ("_order", "_settled", "_skill", "_values")

    def __init__(self, scored: Iterable[tuple[int, float]], skill: Callable[[int], Skill]) -> None:
        self._order = sorted(scored, key=itemgetter(1), reverse=True)
        self._values = [-score for _, score in self._order]
        self._skill = skill
        self._settled: dict[int, Skill] = {}

    def __len__(self) -> int:
        return len(self._order)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, place: int) -> tuple[Skill, float]: ...
        @overload
        def __getitem__(self, place: slice) -> list[tuple[Skill, float]]: ...

    def __getitem__(self, place: int | slice) -> tuple[Skill, float] | list[tuple[Skill, float]]:
        if isinstance(place, slice):
            places = range(*place.indices(len(self._order)))
            for number in places:
                if number not in self._settled:
                    self._settle(number)
            return [(self._settled[number], -self._values[number]) for number in places]
        place = range(len(self))[place]
        if place not in self._settled:
            self._settle(place)
        return self._settled[place], -self._values[place]

    def _settle(self, place: int) -> None:
        """Put the skills of one score in order."""
        first = bisect_left(self._values, self._values[place])
        last = bisect_right(self._values, self._values[place])
        skills = [self._skill(ordinal) for ordinal, _ in self._order[first:last]]
        if len(skills) > 1:
            skills.sort(key=lambda skill: skill.key)
        self._settled.update(zip(range(first, last), skills, strict=True))

    def at_least(self, floor: float) -> int:
        """Return how many of the pairs have a score of at least ``floor``: they come first."""
        return bisect_right(self._values, -floor)


class Scored(ABC):
    """The scores of one query over one bound catalog. Immutable and thread-safe."""

    tiered = False
    """True when :meth:`tier` tells skills apart."""
    exhaustive = False
    """True when a skill that :meth:`scores` leaves out may not be chosen at all."""
    settled = False
    """True when :meth:`scores` gives an :class:`Ordered` of what may be chosen and nothing else:
    the query's tags, hidden and shadowed skills are seen to."""

    @property
    def considered(self) -> int | None:
        """How many skills were looked at, where :meth:`scores` does not tell."""
        return None

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

    def signals(self, skill: Skill) -> Mapping[str, float]:
        """Return the parts of the raw score by label."""
        return {part.label: part.value for part in self.explain(skill).raw().parts}

    def reason(self, skill: Skill) -> str:
        """Return the score's grounds in one line."""
        parts = [part for part in self.explain(skill).raw().parts if part.value]
        parts.sort(key=lambda part: -part.value)
        notes = [f"{part.label}: {part.note}" if part.note else part.label for part in parts]
        return " | ".join(notes)


def level_of(levels: tuple[Level, ...], score: float) -> str | None:
    """Return the name of the band that ``score`` falls in, or None when there are no bands."""
    for level in levels:
        if score >= level.floor:
            return level.name
    return levels[-1].name if levels else None
