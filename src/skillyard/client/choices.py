"""What a service says about its own catalog: rankings, choices, evaluations, reasons.

The values have the members of those that :mod:`skillyard.usecases` gives, but for one thing: a
skill is not here, only its card. ``client.skill(card.id)`` fetches it. ``to_dict()`` is the
document that came.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skillyard.client.document import Node
from skillyard.client.found import diagnostic_of, explanation_of
from skillyard.errors import Diagnostic
from skillyard.ranking.confidence import Evaluation
from skillyard.ranking.query import Query
from skillyard.ranking.scorer import Explanation
from skillyard.shapes.encoder import encode
from skillyard.usecases.reasons import Signal

__all__ = [
    "Ahead",
    "Bounds",
    "Card",
    "Evaluated",
    "Ranked",
    "Remarks",
    "Selected",
    "Why",
    "evaluated_of",
    "ranked_of",
    "selected_of",
    "why_of",
]


class Card(NamedTuple):
    """One skill of a ranking."""

    name: str
    id: str
    """Its document id, which names it alone."""
    slug: str
    path: str
    """Its file, on the machine of the service."""
    score: float
    level: str | None
    """The scorer's band for this score, None where its document names none."""
    reason: str
    """The grounds of the score in one line; holds text of the skill: clean it to print."""
    parts: tuple[tuple[str, float], ...]
    """The parts of the raw score with their labels."""
    rejected_because: str = ""
    """Why a selection left it out; empty in a ranking and for selected skills."""
    explanation: Explanation | None = None
    """The tree behind the score; None where it was not asked for."""

    @property
    def signals(self) -> dict[str, float]:
        """The parts of the raw score by label."""
        return dict(self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape of a match, as every command prints it."""
        shape = self._asdict() | {"signals": self.signals}
        del shape["parts"]
        if not self.rejected_because:
            del shape["rejected_because"]
        if self.explanation is None:
            del shape["explanation"]
        else:
            shape["explanation"] = self.explanation.to_dict()
        return shape


def card_of(node: Node) -> Card:
    """Return one skill of a ranking. Raises Mismatch."""
    because, tree = node.optional("rejected_because"), node.optional("explanation")
    return Card(
        node.member("name").text(),
        node.member("id").text(),
        node.member("slug").text(),
        node.member("path").text(),
        node.member("score").number(),
        node.member("level").text_or_none(),
        node.member("reason").text(),
        node.member("signals").numbers(),
        "" if because is None else because.text(),
        None if tree is None else explanation_of(tree),
    )


def _cards_of(node: Node) -> tuple[Card, ...]:
    return tuple(card_of(item) for item in node.items())


def _query_of(node: Node) -> Query:
    return Query(
        node.member("text").text(),
        node.member("files").texts(),
        node.member("recent_activity").texts(),
        node.member("include_tags").texts(),
        node.member("exclude_tags").texts(),
        node.member("include_references").flag(),
    )


class Remarks(NamedTuple):
    """What was noticed while the service read the files of its catalog."""

    number: int
    listed: tuple[Diagnostic, ...] | None = None
    """Each of them; None where they were not asked for."""

    def to_dict(self) -> dict[str, Any]:
        """Return the members that a ranking or a choice ends with."""
        shape: dict[str, Any] = {"diagnostics_count": self.number}
        if self.listed is not None:
            shape["diagnostics"] = [diagnostic.to_dict() for diagnostic in self.listed]
        return shape


def _remarks_of(node: Node) -> Remarks:
    number, listed = node.member("diagnostics_count").integer(), node.optional("diagnostics")
    if listed is None:
        return Remarks(number)
    return Remarks(number, tuple(diagnostic_of(item) for item in listed.items()))


class Ranked(NamedTuple):
    """A ranking as it is: no floor, no abstention."""

    query: Query
    scorer: str
    matches: tuple[Card, ...]
    """Best first, up to the limit."""
    total: int
    """How many skills have a score at all."""
    remarks: Remarks

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.rank/1`` as the service sent it."""
        return {
            "schema": RANK,
            "query": encode(self.query.document()),
            "scorer": self.scorer,
            "matches": [match.to_dict() for match in self.matches],
            "total": self.total,
            **self.remarks.to_dict(),
        }


def ranked_of(node: Node) -> Ranked:
    """Return a ranking. Raises Mismatch."""
    node.member("schema").check(RANK)
    return Ranked(
        _query_of(node.member("query")),
        node.member("scorer").text(),
        _cards_of(node.member("matches")),
        node.member("total").integer(),
        _remarks_of(node),
    )


class Bounds(NamedTuple):
    """The bounds that a policy meant under a scorer."""

    min_score: float
    top_k: int

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return self._asdict()


def _bounds_of(node: Node) -> Bounds:
    return Bounds(node.member("min_score").number(), node.member("top_k").integer())


class Selected(NamedTuple):
    """A choice, or an abstention."""

    query: Query
    scorer: str
    policy: Bounds
    selected: tuple[Card, ...]
    """The skills that were chosen."""
    rejected: tuple[Card, ...]
    """The best of the others, each with its reason."""
    considered: int
    """How many skills were looked at."""
    abstained: bool
    """True when nothing passed."""
    fallback: bool
    """True when the generalist was taken."""
    menu: tuple[str, ...]
    """Ids of skills too close to choose between."""
    question: str
    """What to ask the user then; empty where one leads."""
    remarks: Remarks
    maybe: tuple[Card, ...] = ()
    """Where nothing was chosen, skills that come near: ask whether one is meant."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.select/1`` as the service sent it."""
        return {
            "schema": SELECT,
            "query": encode(self.query.document()),
            "scorer": self.scorer,
            "policy": self.policy.to_dict(),
            "selected": [match.to_dict() for match in self.selected],
            "maybe": [match.to_dict() for match in self.maybe],
            "rejected": [match.to_dict() for match in self.rejected],
            "considered": self.considered,
            "abstained": self.abstained,
            "fallback": self.fallback,
            "menu": list(self.menu),
            "question": self.question,
            **self.remarks.to_dict(),
        }


def selected_of(node: Node) -> Selected:
    """Return a choice. Raises Mismatch."""
    node.member("schema").check(SELECT)
    return Selected(
        _query_of(node.member("query")),
        node.member("scorer").text(),
        _bounds_of(node.member("policy")),
        _cards_of(node.member("selected")),
        _cards_of(node.member("rejected")),
        node.member("considered").integer(),
        node.member("abstained").flag(),
        node.member("fallback").flag(),
        node.member("menu").texts(),
        node.member("question").text(),
        _remarks_of(node),
        _cards_of(node.member("maybe")),
    )


class Evaluated(NamedTuple):
    """The documented answer of ``skill_evaluate``."""

    results: tuple[Evaluation, ...]
    """Best first; what matched in detail is not sent."""
    message: str
    """The same as Markdown, safe to print."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.evaluate/1`` as the service sent it."""
        results = [result.summary() for result in self.results]
        return {"schema": EVALUATE, "results": results, "message": self.message}


def evaluated_of(node: Node) -> Evaluated:
    """Return recommendations. Raises Mismatch."""
    node.member("schema").check(EVALUATE)
    results = tuple(
        Evaluation(
            item.member("skillName").text(),
            item.member("confidence").number(),
            item.member("level").text(),
            item.member("reason").text(),
        )
        for item in node.member("results").items()
    )
    return Evaluated(results, node.member("message").text())


class Ahead(NamedTuple):
    """A skill that ranks higher, and the signals it differs in, largest lead first."""

    rank: int
    match: Card
    signals: tuple[Signal, ...]
    because: str = ""
    """What decided, where it was not the score."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {
            "rank": self.rank,
            "match": self.match.to_dict(),
            "by": [encode(signal.document()) for signal in self.signals],
            "because": self.because,
        }


def _ahead_of(node: Node) -> Ahead:
    signals = tuple(
        Signal(
            item.member("signal").text(),
            item.member("theirs").number(),
            item.member("ours").number(),
        )
        for item in node.member("by").items()
    )
    return Ahead(
        node.member("rank").integer(),
        card_of(node.member("match")),
        signals,
        node.member("because").text(),
    )


class Why(NamedTuple):
    """Everything about one skill and one query."""

    query: Query
    scorer: str
    match: Card
    """With its explanation."""
    rank: int | None
    """1-based place among the skills with a score, or None when it is not among them."""
    total: int
    """How many skills have a score."""
    before: int
    """How many of them go before this one, or would if it were among them."""
    policy: Bounds
    """Those of the scorer's own policy."""
    chosen: bool
    """True when a selection with that policy would take this skill."""
    ahead: tuple[Ahead, ...]
    """The best of the skills before it, best first."""
    hints: tuple[str, ...]
    """What the numbers do not show."""
    sentences: tuple[str, ...]
    """What matched, what came close and what the floor did."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.why/1`` as the service sent it."""
        return {
            "schema": WHY,
            "query": encode(self.query.document()),
            "scorer": self.scorer,
            "match": self.match.to_dict(),
            "rank": self.rank,
            "total": self.total,
            "before": self.before,
            "policy": self.policy.to_dict(),
            "chosen": self.chosen,
            "ahead": [ahead.to_dict() for ahead in self.ahead],
            "hints": list(self.hints),
            "sentences": list(self.sentences),
        }


def why_of(node: Node) -> Why:
    """Return the reasons. Raises Mismatch."""
    node.member("schema").check(WHY)
    return Why(
        _query_of(node.member("query")),
        node.member("scorer").text(),
        card_of(node.member("match")),
        node.member("rank").integer_or_none(),
        node.member("total").integer(),
        node.member("before").integer(),
        _bounds_of(node.member("policy")),
        node.member("chosen").flag(),
        tuple(_ahead_of(item) for item in node.member("ahead").items()),
        node.member("hints").texts(),
        node.member("sentences").texts(),
    )


RANK = "skillyard.rank/1"
SELECT = "skillyard.select/1"
EVALUATE = "skillyard.evaluate/1"
WHY = "skillyard.why/1"
