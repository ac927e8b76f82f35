"""What the service returns about its own catalog: rankings, selections, reasons, receipts.

The values have the members of the JSON documents. A skill is represented by its card;
``client.skill(card.id)`` fetches the whole skill. ``to_dict()`` is the document as received.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.base.shapes import feedback, matches, reasons, recommendations, service
from skillyard.base.shapes.encoder import encode
from skillyard.engine.ranking.confidence import Evaluation
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.scorer import Explanation
from skillyard.serve.client.document import read_as
from skillyard.serve.client.values import Value, value_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Card(matches.Match, Value):
    """One skill of a ranking. ``path`` is its file on the machine of the service."""

    explanation: Explanation | None = None  # type: ignore[assignment]
    """The explanation tree of the score; None unless requested."""

    @property
    def parts(self) -> tuple[tuple[str, float], ...]:
        """The parts of the raw score with their labels."""
        return tuple(self.signals.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds(matches.Policy, Value):
    """The bounds that a policy resolved to under a scorer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackReceipt(feedback.FeedbackReceipt, Value):
    """What the service stored of a judgement."""


class Remarks(NamedTuple):
    """Diagnostics of the service's catalog."""

    number: int
    listed: tuple[Diagnostic, ...] | None = None
    """The diagnostics; None unless requested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked(service.Ranked, Value):
    """A ranking without a floor."""

    query: Query  # type: ignore[assignment]
    matches: tuple[Card, ...]
    """Best first, up to the limit."""
    diagnostics: tuple[Diagnostic, ...] | None = None  # type: ignore[assignment]

    @property
    def remarks(self) -> Remarks:
        """The number of diagnostics, and each of them when requested."""
        return Remarks(self.diagnostics_count, self.diagnostics)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected(service.Selected, Value):
    """A selection, or an abstention."""

    query: Query  # type: ignore[assignment]
    policy: Bounds
    selected: tuple[Card, ...]
    """The selected skills."""
    maybe: tuple[Card, ...]
    """Without a selection, the skills to ask the user about."""
    rejected: tuple[Card, ...]
    """The best of the other skills, each with its reason."""
    diagnostics: tuple[Diagnostic, ...] | None = None  # type: ignore[assignment]

    @property
    def remarks(self) -> Remarks:
        """The number of diagnostics, and each of them when requested."""
        return Remarks(self.diagnostics_count, self.diagnostics)


class Evaluated(NamedTuple):
    """The documented answer of ``skill_evaluate``."""

    results: tuple[Evaluation, ...]
    """Best first, without the details of the matches."""
    message: str
    """The same as Markdown, safe to print."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.evaluate/1`` as the service sent it."""
        results = tuple(result.document() for result in self.results)
        document: dict[str, Any] = encode(
            recommendations.Evaluated(results=results, message=self.message)
        )
        return document


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal(reasons.Signal, Value):
    """One part of the raw score, in the scorer's own units, for two skills."""

    @property
    def label(self) -> str:
        """Its label."""
        return self.signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead(reasons.Ahead, Value):
    """A skill that ranks higher, and the signals it differs in, largest lead first."""

    match: Card
    by: tuple[Signal, ...]

    @property
    def signals(self) -> tuple[Signal, ...]:
        """The signals in which the two differ, largest lead first."""
        return self.by


@dataclass(frozen=True, slots=True, kw_only=True)
class Why(reasons.Why, Value):
    """The explanation of one skill's score and rank for one query."""

    query: Query  # type: ignore[assignment]
    match: Card
    """The skill's match, with its explanation."""
    policy: Bounds
    """The bounds of the scorer's own policy."""
    ahead: tuple[Ahead, ...]
    """The best of the skills ranked above it, best first."""


_VALUES = {
    matches.Match: Card,
    matches.Policy: Bounds,
    reasons.Ahead: Ahead,
    reasons.Signal: Signal,
    reasons.Why: Why,
    service.Ranked: Ranked,
    service.Selected: Selected,
}


def ranked_of(document: Any) -> Ranked:
    """Return a ranking. Raises Mismatch."""
    ranked: Ranked = value_of(read_as(service.Ranked, document), _VALUES)
    return ranked


def selected_of(document: Any) -> Selected:
    """Return a selection. Raises Mismatch."""
    selected: Selected = value_of(read_as(service.Selected, document), _VALUES)
    return selected


def why_of(document: Any) -> Why:
    """Return an explanation. Raises Mismatch."""
    why: Why = value_of(read_as(reasons.Why, document), _VALUES)
    return why


def receipt_of(document: Any) -> FeedbackReceipt:
    """Return the receipt of a judgement. Raises Mismatch."""
    return read_as(FeedbackReceipt, document)


def evaluated_of(document: Any) -> Evaluated:
    """Return recommendations. Raises Mismatch."""
    evaluated = read_as(recommendations.Evaluated, document)
    results = tuple(
        Evaluation(each.skillName, each.confidence, each.level, each.reason)
        for each in evaluated.results
    )
    return Evaluated(results, evaluated.message)
