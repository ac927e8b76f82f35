"""The ``overlap`` scorer: weighted lexical overlap, as adk-skill documents it.

Source: adk-skill 0.6, "Selection": for every token of the query that is found in a field the
score grows by the field's weight; the sum is divided by the square root of the body's unique
tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

from skillyard.base.text import plural
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.scorer import DefaultPolicy, Explanation, Level, Scored
from skillyard.engine.skill import Skill

NAME_WEIGHT = 4.0
DESCRIPTION_WEIGHT = 2.5
TAGS_WEIGHT = 2.0
BODY_WEIGHT = 1.0

_FIELDS = ("name", "description", "tags", "body")

# Everything but ASCII letters and digits becomes a blank, and capitals become lower case.
_FOLD = bytes(
    code | 0x20 if 65 <= code <= 90 else code if 48 <= code <= 57 or 97 <= code <= 122 else 32
    for code in range(256)
)


def tokens(text: str) -> list[str]:
    """Return the maximal runs of ASCII letters and digits, lower-cased, in order."""
    folded = text.encode("utf-8", "surrogatepass").translate(_FOLD)
    return folded.decode("ascii").split()


@dataclass(frozen=True, slots=True)
class Overlap:
    """Weighted lexical overlap. Open scale: raw weight over the square root of body tokens."""

    name_weight: float = NAME_WEIGHT
    description_weight: float = DESCRIPTION_WEIGHT
    tags_weight: float = TAGS_WEIGHT
    body_weight: float = BODY_WEIGHT

    name = "overlap"
    scale = "open"
    # adk-skill, "Score Significance"; the lower edge of each printed band is its floor.
    levels = (Level(5.0, "high"), Level(2.5, "specific"), Level(1.0, "broad"), Level(0.0, "trace"))
    # adk-skill, "SelectionPolicy defaults" and "The Menu Pattern" (scores within 0.5).
    default_policy = DefaultPolicy(1.0, 1, 0.5, "name, path")

    def bind(self, skills: Iterable[Skill]) -> BoundOverlap:
        """Build the inverted index: the skills of each token, with the summed field weight."""
        return BoundOverlap(self, tuple(skills))

    def weight(self, field: str) -> float:
        """Return the weight of one field."""
        return float(getattr(self, f"{field}_weight"))


def _field_tokens(skill: Skill) -> dict[str, frozenset[str]]:
    return {
        "name": frozenset(tokens(skill.name)),
        "description": frozenset(tokens(skill.description)),
        "tags": frozenset(tokens(" ".join(skill.tags))),
        "body": frozenset(tokens(skill.body or "")),
    }


class BoundOverlap:
    """The scorer bound to one snapshot: the inverted index of the skills' tokens."""

    def __init__(self, scorer: Overlap, skills: tuple[Skill, ...]) -> None:
        self.scorer = scorer
        self.skills: Sequence[Skill] = skills
        self.position = {skill: number for number, skill in enumerate(skills)}
        self.divisor: list[float] = []
        # Per token: the skills that have it in the body, and in other fields with their weight.
        self.in_body: dict[str, list[int]] = {}
        self.elsewhere: dict[str, dict[int, float]] = {}
        for number, skill in enumerate(skills):
            fields = _field_tokens(skill)
            self.divisor.append(sqrt(max(1, len(fields["body"]))))
            self._add(number, fields)

    def _add(self, number: int, fields: dict[str, frozenset[str]]) -> None:
        in_body = self.in_body
        for token in fields["body"]:
            row = in_body.get(token)
            if row is None:
                in_body[token] = [number]
            else:
                row.append(number)
        for field in ("name", "description", "tags"):
            weight = self.scorer.weight(field)
            for token in fields[field]:
                weights = self.elsewhere.setdefault(token, {})
                weights[number] = weights.get(number, 0.0) + weight

    def prepare(self, query: Query) -> ScoredOverlap:
        """Add up the postings of the query's tokens; each occurrence of a token counts."""
        return ScoredOverlap(self, Counter(tokens(query.text)))


class ScoredOverlap(Scored):
    """The overlap scores of one query."""

    def __init__(self, bound: BoundOverlap, counts: Counter[str]) -> None:
        self._bound = bound
        self._counts = counts
        self.blank = not counts

    def scores(self) -> list[tuple[Skill, float]]:
        """Return the skills that contain at least one token of the query."""
        bound = self._bound
        raw = [0.0] * len(bound.skills)
        body_weight = bound.scorer.body_weight
        for token, count in self._counts.items():
            weight = count * body_weight
            for number in bound.in_body.get(token, ()):
                raw[number] += weight
            for number, weight in bound.elsewhere.get(token, {}).items():
                raw[number] += count * weight
        skills, divisor = bound.skills, bound.divisor
        return [
            (skills[number], total / divisor[number]) for number, total in enumerate(raw) if total
        ]

    def explain(self, skill: Skill) -> Explanation:
        """Return one part for each matched field, already divided."""
        number = self._bound.position[skill]
        divisor = self._bound.divisor[number]
        tokens = _field_tokens(skill)
        parts = []
        for field in _FIELDS:
            hits = {token: count for token, count in self._counts.items() if token in tokens[field]}
            if not hits:
                continue
            weight = self._bound.scorer.weight(field)
            gain = weight * sum(hits.values())
            note = ", ".join(f"{t} ×{n}" if n > 1 else t for t, n in hits.items())
            factors = (
                Explanation(f"{weight:g} per token", gain, (), "leaf", note),
                Explanation("1 / sqrt(unique body tokens)", 1 / divisor, (), "leaf"),
            )
            parts.append(Explanation(field, gain / divisor, factors, "product", note))
        raw = self._raw(number, tokens["body"])
        unique = plural(len(tokens["body"]), "unique body token")
        note = f"{raw:g} / sqrt({unique}) = {raw:g} / {divisor:.3f}"
        return Explanation("overlap", raw / divisor, tuple(parts), "sum", note)

    def _raw(self, number: int, body: frozenset[str]) -> float:
        """Sum one skill's weights in the order of :meth:`scores`, for identical results."""
        raw = 0.0
        for token, count in self._counts.items():
            if token in body:
                raw += count * self._bound.scorer.body_weight
            raw += count * self._bound.elsewhere.get(token, {}).get(number, 0.0)
        return raw


OVERLAP = Overlap()
