"""The JSON of skills that were found → the values that a search in this process gives.

``client.search(q).to_dict(…)`` is the answer that the service sent, and each
:class:`~skillyard.skill.Skill` in it can be ranked, injected or put into a catalog like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillyard.client.document import Mismatch, Node
from skillyard.errors import Diagnostic
from skillyard.ranking.match import Match
from skillyard.ranking.scorer import Explanation, Scored
from skillyard.remote.search import FoundSkill, SearchResult, SourceStatus
from skillyard.remote.sources.protocol import Hit, Package, SourceFailed
from skillyard.skill import SKILL_FIELDS, Reference, Skill

__all__ = [
    "diagnostic_of",
    "explanation_of",
    "found_skill_of",
    "search_result_of",
    "source_status_of",
]

SCHEMA = "skillyard.search/1"
MARKETPLACE = "skills.sh"


class Told(Scored):
    """What a service said about one skill's score, where the scorer itself is not here."""

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
        """Return the tree that came; a single leaf where none was asked for."""
        return self._explanation

    def signals(self, skill: Skill) -> Mapping[str, float]:
        """Return the parts of the raw score by label, as they came."""
        return dict(self._signals)

    def reason(self, skill: Skill) -> str:
        """Return the grounds of the score, as they came."""
        return self._reason


def search_result_of(node: Node) -> SearchResult:
    """Return the answer to a search. Raises Mismatch."""
    node.member("schema").check(SCHEMA)
    skills = tuple(found_skill_of(item) for item in node.member("skills").items())
    if node.member("count").integer() != len(skills):
        raise Mismatch(f"$.count is not the number of skills, which is {len(skills)}")
    floor, abstained = node.member("floor").number_or_none(), node.member("abstained").flag()
    result = SearchResult(
        node.member("query").text(),
        skills,
        tuple(source_status_of(item) for item in node.member("sources").items()),
        node.member("ranker").text(),
        node.member("considered").integer(),
        float("-inf") if floor is None else floor,
    )
    if result.abstained != abstained:
        raise Mismatch("$.abstained is not what the scores and the floor say")
    return result


def source_status_of(node: Node) -> SourceStatus:
    """Return what one source did. Raises Mismatch."""
    code, message = node.optional("code"), node.optional("message")
    after = node.optional("retry_after_s")
    return SourceStatus(
        node.member("name").text(),
        node.member("state").text(),
        node.member("found").integer(),
        "" if code is None else code.text(),
        "" if message is None else message.text(),
        None if after is None else after.number(),
    )


def found_skill_of(node: Node) -> FoundSkill:
    """Return one skill with its content. Raises Mismatch."""
    refs = node.member("refs")
    found_by = node.member("found_by").texts()
    skill = _skill_of(node)
    failure = node.member("fetch_error").text_or_none()
    tokens, omitted = node.optional("tokens"), node.optional("omitted")
    listed = bool(refs.member("skills_sh").text_or_none()) and MARKETPLACE in found_by
    hit = Hit(
        node.member("source").text(),
        node.member("id").text(),
        MARKETPLACE if listed else next(iter(found_by), ""),
        name=skill.name,
        description=skill.description,
        install_count=skill.install_count,
        curated=skill.curated,
    )
    return FoundSkill(
        skill,
        hit,
        found_by,
        _match_of(node, skill),
        _package_of(node, refs, hit),
        node.member("raw_content").text_or_none() or "",
        tuple(diagnostic_of(item) for item in node.member("diagnostics").items()),
        # Of which kind it was, the service does not say.
        None if failure is None else SourceFailed("", failure),
        None if tokens is None else tokens.integer(),
        omitted is not None and omitted.flag(),
    )


def _skill_of(node: Node) -> Skill:
    name, title = node.member("name").text(), node.member("title").text()
    return Skill(
        name,
        node.member("description").text_or_none() or "",
        node.member("content").text_or_none(),
        slug=node.member("id").text(),
        title=None if title == name else title,
        version=node.member("version").text_or_none(),
        **_frontmatter_of(node.object()),
        allowed_tools=node.member("allowed_tools").texts(),
        references=tuple(_reference_of(item) for item in node.member("references").items()),
        metadata=node.member("metadata").object(),
        source=node.member("source").text(),
        install_count=node.member("install_count").integer(),
        curated=node.member("curated").flag(),
        hash=node.member("digest").text(),
    )


def _frontmatter_of(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are sent under their own names; the service leaves out defaults."""
    wire = [each.name for each in SKILL_FIELDS.values() if each.wire]
    return {name: sent[name] for name in wire if name in sent}


def _reference_of(node: Node) -> Reference:
    node.member("raw_url").text_or_none()
    return Reference(
        node.member("name").text(),
        node.member("path").text(),
        node.member("content").text_or_none(),
    )


def _match_of(node: Node, skill: Skill) -> Match | None:
    """Return how it was ranked; None where nothing says that it was."""
    score = node.member("relevance_score").number()
    level = node.member("level").text_or_none()
    reason, signals = node.member("reason").text(), node.member("signals").numbers()
    tree = node.optional("explanation")
    if not (score or level or reason or signals or tree):
        return None
    explanation = None if tree is None else explanation_of(tree)
    return Match(skill, score, level, Told(skill, score, signals, reason, explanation))


def _package_of(node: Node, refs: Node, hit: Hit) -> Package | None:
    """Return where the content was read; its files are not sent. None where nothing was fetched."""
    url, raw_url = refs.member("github").text_or_none(), refs.member("raw").text_or_none()
    commit, age_s = node.member("commit").text_or_none(), node.member("age_s").number_or_none()
    skipped = node.optional("skipped")
    if age_s is None:
        return None
    return Package(
        {},
        hit.source,
        commit=commit or "",
        url=url or "",
        raw_url=raw_url or "",
        age_s=age_s,
        skipped=() if skipped is None else skipped.texts(),
    )


def diagnostic_of(node: Node) -> Diagnostic:
    """Return one finding about one file. Raises Mismatch."""
    return Diagnostic(
        node.member("code").text(),
        node.member("severity").text(),
        node.member("path").text(),
        node.member("message").text(),
        node.member("hint").text(),
        node.member("line").integer_or_none(),
        node.member("column").integer_or_none(),
        node.member("found").text(),
    )


def explanation_of(node: Node) -> Explanation:
    """Return the tree behind a score. Raises Mismatch."""
    parts, note = node.optional("parts"), node.optional("note")
    return Explanation(
        node.member("label").text(),
        node.member("value").number(),
        () if parts is None else tuple(explanation_of(part) for part in parts.items()),
        node.member("op").text(),
        "" if note is None else note.text(),
    )
