"""The results of scorers: scores of one query, their order, and explanations.

A scorer (:mod:`.protocol`) is a frozen value with its constants. ``bind(catalog)``, once per
snapshot, returns a bound scorer. ``bound.prepare(query)``, once per query, returns a
:class:`Scored` with ``scores()``, pairs (skill, score), and ``explain(skill)``, a tree whose value
is the score.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from skillyard.base import shapes
from skillyard.base.shapes.encoder import encode, from_attributes
from skillyard.engine.skill import Skill


class Explanation(NamedTuple):
    """One node of an explanation tree.

    ``op`` is how ``value`` is computed from the parts: ``sum``, ``max``, ``product``, ``leaf``, or
    ``calibration`` for the optional root above the raw score.
    """

    label: str
    value: float
    parts: "tuple[Explanation, ...]" = ()
    op: str = "sum"
    note: str = ""
    """A short description of the match. It contains untrusted text: clean it before printing."""

    def document(self) -> "shapes.details.ExplanationDocument":
        """Return the tree as a document shows it."""
        parts = tuple(part.document() for part in self.parts)
        return from_attributes(shapes.details.ExplanationDocument, self, parts=parts)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON shape, recursively."""
        node: dict[str, object] = encode(self.document())
        return node

    def raw(self) -> "Explanation":
        """Return the node under a calibration, or the node itself."""
        return self.parts[0].raw() if self.op == "calibration" else self


class Level(NamedTuple):
    """A named band of scores: ``name`` holds from ``floor`` upwards."""

    floor: float
    name: str


class DefaultPolicy(NamedTuple):
    """How a scorer's specification uses the score."""

    min_score: float
    top_k: int
    menu_margin: float
    """Skills within this distance of the best score are offered to the user as a choice."""
    tie_break: str
    """The order of equal scores, as a description; name and path always follow."""
    maybe: float = float("inf")
    """When nothing is selected, skills with scores from here to ``min_score`` are offered as a
    question. Infinity disables this."""
    wrong_cost: float | None = None
    """The cost of a wrong skill, relative to a missed one, on which ``min_score`` and ``maybe`` are
    based. None when the score is not a probability."""


def floor_of(wrong_cost: float) -> float:
    """Return the probability from which selecting a skill has the lower expected cost.

    Selecting a skill that fits with probability p costs (1 - p) · wrong_cost on average, and not
    selecting it costs p. The costs are equal at p = wrong_cost / (wrong_cost + 1), which is 2/3
    when a wrong skill costs twice as much as a missed one.
    """
    return wrong_cost / (wrong_cost + 1.0)


QUESTION_COST = 1 / 6
"""Cost of a needless question relative to a wrong skill."""


def maybe_of(wrong_cost: float) -> float:
    """Return the probability from which asking about a skill has the lower expected cost.

    Computed like :func:`floor_of`, with the cost of a needless question (:data:`QUESTION_COST` of a
    wrong skill): 1/4 when a wrong skill costs twice as much as a missed one.
    """
    return floor_of(QUESTION_COST * wrong_cost)


class OrderedScores(Sequence[tuple[Skill, float]]):
    """Pairs (skill, score) in their total order, best first. Skills are loaded on access.

    Takes (ordinal, score) pairs and a function that returns the skill of an ordinal. Equal scores
    are ordered by name and path, which loads only the skills with that score.
    """

    __slots__ = ("_loaded", "_order", "_skill", "negated")

    def __init__(self, scored: Iterable[tuple[int, float]], skill: Callable[[int], Skill]) -> None:
        self._order = sorted(scored, key=itemgetter(1), reverse=True)
        self.negated = [-score for _, score in self._order]
        """The scores, negated, as :mod:`bisect` takes them."""
        self._skill = skill
        self._loaded: dict[int, Skill] = {}

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
                if number not in self._loaded:
                    self._load_ties(number)
            return [(self._loaded[number], -self.negated[number]) for number in places]
        place = range(len(self))[place]
        if place not in self._loaded:
            self._load_ties(place)
        return self._loaded[place], -self.negated[place]

    def _load_ties(self, place: int) -> None:
        """Load and order the skills that share the score at ``place``."""
        first = bisect_left(self.negated, self.negated[place])
        last = bisect_right(self.negated, self.negated[place])
        skills = [self._skill(ordinal) for ordinal, _ in self._order[first:last]]
        if len(skills) > 1:
            skills.sort(key=lambda skill: skill.key)
        self._loaded.update(zip(range(first, last), skills, strict=True))


class Scored(ABC):
    """The scores of one query over one bound catalog. Immutable and thread-safe."""

    tiered = False
    """True when :meth:`tier` is not constant."""
    exhaustive = False
    """True when only the skills of :meth:`scores` may be selected."""
    is_preordered = False
    """True when :meth:`scores` returns an :class:`OrderedScores` of the eligible skills only: tags,
    hidden and shadowed skills are already applied."""
    considered: int | None = None
    """Number of skills considered; None when it is the length of :meth:`scores`."""
    blank: bool = False
    """True when the query contains nothing that this scorer uses; then nothing is selected."""
    sets_aside = False
    """True when the query says what is not wanted, so that what comes near may be just that."""

    @abstractmethod
    def scores(self) -> Sequence[tuple[Skill, float]]:
        """Return the skills with a score other than zero, in catalog order."""

    @property
    def left_to_user(self) -> Skill | None:
        """The hidden skill that fits better than all that may be chosen, where this is known.

        Nothing is selected in its place.
        """
        return None

    @abstractmethod
    def explain(self, skill: Skill) -> Explanation:
        """Return the explanation of the skill's score; the root's value is the score."""

    def tier(self, skill: Skill) -> int:
        """Return the tier, which takes precedence over the score; tier 0 comes first."""
        return 0

    def tie_break(self, skill: Skill) -> tuple[Any, ...]:
        """Return the sort key of equal scores, ascending; name and path follow."""
        return ()

    def signals(self, skill: Skill) -> Mapping[str, float]:
        """Return the parts of the raw score by label."""
        return {part.label: part.value for part in self.explain(skill).raw().parts}

    def reason(self, skill: Skill) -> str:
        """Return the reason of the score in one line."""
        parts = [part for part in self.explain(skill).raw().parts if part.value]
        parts.sort(key=lambda part: -part.value)
        notes = [f"{part.label}: {part.note}" if part.note else part.label for part in parts]
        return " | ".join(notes)

    def what_decided(self, ahead: Skill, other: Skill) -> str:
        """Return the part of the score that puts the first skill ahead most, for a sentence."""
        theirs = self.signals(other)
        parts = self.explain(ahead).raw().parts
        part = max(parts, key=lambda part: part.value - theirs.get(part.label, 0.0), default=None)
        if part is None or part.value <= theirs.get(part.label, 0.0):
            return ""
        label = part.label.lower().replace("_", " ")
        return f"by {label} ({part.note})" if part.note else f"by {label}"

    def what_lacks(self, skill: Skill) -> str:
        """Return what of the request the skill lacks, for a sentence; empty when not known."""
        return ""


def level_of(levels: tuple[Level, ...], score: float) -> str | None:
    """Return the name of the band that ``score`` falls in, or None when there are no bands."""
    for level in levels:
        if score >= level.floor:
            return level.name
    return levels[-1].name if levels else None
