"""Decode search results into the values that a local search returns.

``client.search(q).to_dict(…)`` is the document that the service sent. Each
:class:`~skillyard.engine.skill.Skill` in it can be ranked, injected or put into a catalog.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillyard.base.errors import SourceFailed
from skillyard.base.shapes import skills as shapes
from skillyard.base.shapes.encoder import encode
from skillyard.engine.ranking.match import Match
from skillyard.engine.ranking.scorer import Explanation, Scored
from skillyard.engine.skill import SKILL_FIELDS, Reference, Skill
from skillyard.install.search import FoundSkill, SearchResult, SourceStatus
from skillyard.install.sources.protocol import Hit, Package
from skillyard.serve.client.document import Mismatch, read_as
from skillyard.serve.client.values import value_of

MARKETPLACE = "skills.sh"


class ReportedScore(Scored):
    """The score of one skill as the service reported it, in place of a local scorer."""

    def __init__(
        self,
        skill: Skill,
        score: float,
        signals: tuple[tuple[str, float], ...],
        reason: str,
        explanation: Explanation | None,
    ) -> None:
        self._skill = skill
        self._score = score
        self._signals = signals
        self._reason = reason
        self._explanation = explanation or Explanation(
            "score", score, op="leaf", note="not explained: ask with explain=True"
        )

    def scores(self) -> Sequence[tuple[Skill, float]]:
        """Return the one skill with its score."""
        return ((self._skill, self._score),)

    def explain(self, skill: Skill) -> Explanation:
        """Return the received explanation tree, or a single leaf when none was requested."""
        return self._explanation

    def signals(self, skill: Skill) -> Mapping[str, float]:
        """Return the parts of the raw score by label, as received."""
        return dict(self._signals)

    def reason(self, skill: Skill) -> str:
        """Return the reason of the score, as received."""
        return self._reason


def search_result_of(document: Any) -> SearchResult:
    """Decode a search result. Raises Mismatch."""
    shape = read_as(shapes.SearchResult, document)
    if shape.count != len(shape.skills):
        raise Mismatch(f"$.count is not the number of skills, which is {len(shape.skills)}")
    result = SearchResult(
        shape.query,
        tuple(_found_skill(skill) for skill in shape.skills),
        tuple(_status(status) for status in shape.sources),
        shape.ranker,
        shape.considered,
        float("-inf") if shape.floor is None else shape.floor,
        shape.note or "",
    )
    if result.abstained != shape.abstained:
        raise Mismatch("$.abstained is not what the scores and the floor say")
    return result


def _status(shape: shapes.SourceStatus) -> SourceStatus:
    return SourceStatus(
        shape.name,
        shape.state,
        shape.found,
        shape.code or "",
        shape.message or "",
        shape.retry_after_s,
    )


def found_skill_of(document: Any) -> FoundSkill:
    """Decode one skill with its content. Raises Mismatch."""
    return _found_skill(read_as(shapes.Skill, document))


def _found_skill(shape: shapes.Skill) -> FoundSkill:
    skill = _skill(shape)
    listed = bool(shape.refs.skills_sh) and MARKETPLACE in shape.found_by
    hit = Hit(
        shape.source,
        shape.id,
        MARKETPLACE if listed else next(iter(shape.found_by), ""),
        name=skill.name,
        description=skill.description,
        install_count=skill.install_count,
        curated=skill.curated,
    )
    return FoundSkill(
        skill,
        hit,
        shape.found_by,
        _match(shape, skill),
        _package(shape),
        shape.raw_content or "",
        value_of(shape.diagnostics),
        # The service does not send the kind.
        None if shape.fetch_error is None else SourceFailed("", shape.fetch_error),
        shape.tokens,
        bool(shape.omitted),
    )


def _skill(shape: shapes.Skill) -> Skill:
    """Return the skill. Fields with their own names on the wire are those of SKILL_FIELDS."""
    wire = {each.name: getattr(shape, each.name) for each in SKILL_FIELDS.values() if each.wire}
    return Skill(
        shape.name,
        shape.description or "",
        shape.content,
        slug=shape.id,
        title=None if shape.title == shape.name else shape.title,
        version=shape.version,
        allowed_tools=shape.allowed_tools,
        references=tuple(
            Reference(each.name, each.path, each.content) for each in shape.references
        ),
        metadata=shape.metadata,
        source=shape.source,
        install_count=shape.install_count,
        curated=shape.curated,
        hash=shape.digest,
        **{**wire, "triggers": encode(shape.triggers)},
    )


def _match(shape: shapes.Skill, skill: Skill) -> Match | None:
    """Return its match; None when it was not ranked."""
    score, tree = shape.relevance_score, shape.explanation
    if not (score or shape.level or shape.reason or shape.signals or tree):
        return None
    signals = tuple(shape.signals.items())
    return Match(
        skill,
        score,
        shape.level,
        ReportedScore(skill, score, signals, shape.reason, value_of(tree)),
    )


def _package(shape: shapes.Skill) -> Package | None:
    """Return the origin of the content, without files; None when nothing was fetched."""
    if shape.age_s is None:
        return None
    return Package(
        {},
        shape.source,
        commit=shape.commit or "",
        url=shape.refs.github,
        raw_url=shape.refs.raw or "",
        age_s=shape.age_s,
        skipped=shape.skipped,
    )
