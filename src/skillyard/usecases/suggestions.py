"""``skillyard eval suggest``: which words decide whether a skill is activated.

The default scorer explains every score by the terms of the query. When a query should activate
the skill and does not, the terms for which the winner has more points are missing from the
skill's description. When it should not and does, the terms for which the skill has points are the
ones to remove.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from skillyard.catalog import Catalog
from skillyard.evals.cases.activation import ActivationCase
from skillyard.ranking.hybrid.query_analysis import written_forms
from skillyard.ranking.query import Query
from skillyard.ranking.registry import DEFAULT_SCORER, resolve
from skillyard.ranking.scorer import Explanation
from skillyard.usecases.skill_explanation import Why, why_skill

__all__ = ["CaseAdvice", "Suggestions", "TermLead", "WordAdvice", "suggest"]

KEPT_TERMS = 8
"""Terms told for one request: those that move the score most."""
_AHEAD = 10
_ROUND = 6


class TermLead(NamedTuple):
    """One term of a request, as the request spells it, and what two skills have for it."""

    term: str
    ours: float
    """Points of the skill under test; the points of a request's best skill are about 1."""
    theirs: float
    """Points of the competitor; 0 where there is none."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return self._asdict()


class CaseAdvice(NamedTuple):
    """One request for which the skill has the wrong rank."""

    id: str
    user_prompt: str
    wanted: bool
    """True: it should be activated and is not, or another one goes first."""
    rank: int | None
    """1-based place of the skill; None when it has no score."""
    score: float
    floor: float
    """The lowest score that is selected."""
    competitor: str | None
    """The best skill that the case does not name, or (for an unwanted one) the one it expects."""
    competitor_score: float
    terms: tuple[TermLead, ...]
    """Wanted: terms for which the competitor has more, largest lead first. Unwanted: terms that
    the skill has points for, most points first."""
    unclaimed: tuple[str, ...]
    """Wanted: words of the request for which neither skill has any points."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {
            **self._asdict(),
            "terms": [term.to_dict() for term in self.terms],
            "unclaimed": list(self.unclaimed),
        }


class WordAdvice(NamedTuple):
    """One word over all requests."""

    term: str
    requests: int
    """How many requests it matters in."""
    points: float
    """Missing: the lead of the competitors, summed. Shared: the skill's own points, summed."""
    competitors: tuple[str, ...]
    """Sorted by name."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {**self._asdict(), "competitors": list(self.competitors)}


class Suggestions(NamedTuple):
    """What would change when a skill is activated."""

    skill: str
    scorer: str
    looked_at: int
    """Cases that say something about this skill."""
    in_order: int
    """Cases on which nothing has to change."""
    cases: tuple[CaseAdvice, ...]
    missing: tuple[WordAdvice, ...]
    """Words to say in the description, most useful first."""
    shared: tuple[WordAdvice, ...]
    """Words to leave out, or to name in a sentence about what the skill is not for."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.eval-suggest/1``."""
        return {
            "schema": "skillyard.eval-suggest/1",
            "skill": self.skill,
            "scorer": self.scorer,
            "looked_at": self.looked_at,
            "in_order": self.in_order,
            "cases": [case.to_dict() for case in self.cases],
            "missing": [word.to_dict() for word in self.missing],
            "shared": [word.to_dict() for word in self.shared],
        }


def suggest(catalog: Catalog, skill: str, cases: Iterable[ActivationCase]) -> Suggestions:
    """Say which words keep a skill from the requests it is for, or give it those it is not for.

    A case says something about the skill when it expects it, when it expects nothing or other
    skills and does not accept it, or when it is about it. Everything is computed by the default
    scorer: no model is asked. Raises SkillNotFound, AmbiguousName.
    """
    name = catalog.get(skill).name
    floor = resolve(DEFAULT_SCORER).default_policy.min_score
    looked_at = 0
    advice: list[CaseAdvice] = []
    for case in cases:
        wanted = _should_activate(case, name)
        if wanted is None:
            continue
        looked_at += 1
        found = (_missed if wanted else _taken)(catalog, name, case, floor)
        advice.extend([found] if found is not None else [])
    missing = _by_word([one for one in advice if one.wanted], lead=True)
    shared = _by_word([one for one in advice if not one.wanted], lead=False)
    return Suggestions(
        name,
        DEFAULT_SCORER,
        looked_at,
        looked_at - len(advice),
        tuple(advice),
        missing,
        shared,
    )


def _should_activate(case: ActivationCase, name: str) -> bool | None:
    """True when the case wants the skill, False when not; None when it says nothing about it."""
    if name in case.expected_skills:
        return True
    if name in case.acceptable_skills or case.about not in (None, name):
        return None
    return False


def _missed(catalog: Catalog, name: str, case: ActivationCase, floor: float) -> CaseAdvice | None:
    """Return advice for a request that the skill should get; None where it gets it."""
    why = why_skill(catalog, name, Query(case.user_prompt), limit=_AHEAD)
    allowed = {*case.expected_skills, *case.acceptable_skills}
    rival = next((one.match for one in why.ahead if one.match.skill.name not in allowed), None)
    if rival is None and why.match.score >= floor:
        return None
    ours = _terms(why.match.explanation)
    theirs = _terms(rival.explanation) if rival is not None else {}
    words = written_forms(case.user_prompt)
    leads = [
        TermLead(words.get(term, term), ours.get(term, 0.0), points)
        for term, points in theirs.items()
        if points > ours.get(term, 0.0)
    ]
    leads.sort(key=lambda lead: (-(lead.theirs - lead.ours), lead.term))
    unclaimed = [word for term, word in words.items() if term not in ours and term not in theirs]
    return _advice(
        case,
        why,
        floor,
        wanted=True,
        rival=(rival.skill.name, rival.score) if rival is not None else (None, 0.0),
        terms=leads,
        unclaimed=unclaimed,
    )


def _taken(catalog: Catalog, name: str, case: ActivationCase, floor: float) -> CaseAdvice | None:
    """Return advice for a request that the skill should not get; None where it does not."""
    why = why_skill(catalog, name, Query(case.user_prompt), limit=_AHEAD)
    if why.match.score < floor or why.rank is None:
        return None
    expected = [
        why_skill(catalog, other, Query(case.user_prompt), limit=0)
        for other in case.expected_skills
    ]
    best = max(
        expected, key=lambda other: (other.match.score, other.match.skill.name), default=None
    )
    if best is not None and best.before < why.before:
        return None
    theirs = _terms(best.match.explanation) if best is not None else {}
    words = written_forms(case.user_prompt)
    terms = [
        TermLead(words.get(term, term), points, theirs.get(term, 0.0))
        for term, points in _terms(why.match.explanation).items()
    ]
    terms.sort(key=lambda lead: (-lead.ours, lead.term))
    rival = (best.match.skill.name, best.match.score) if best is not None else (None, 0.0)
    return _advice(case, why, floor, wanted=False, rival=rival, terms=terms, unclaimed=[])


def _advice(
    case: ActivationCase,
    why: Why,
    floor: float,
    *,
    wanted: bool,
    rival: tuple[str | None, float],
    terms: Sequence[TermLead],
    unclaimed: Sequence[str],
) -> CaseAdvice:
    rounded = [
        TermLead(lead.term, round(lead.ours, _ROUND), round(lead.theirs, _ROUND)) for lead in terms
    ]
    return CaseAdvice(
        case.id,
        case.user_prompt,
        wanted,
        why.rank,
        round(why.match.score, _ROUND),
        floor,
        rival[0],
        round(rival[1], _ROUND),
        tuple(rounded[:KEPT_TERMS]),
        tuple(dict.fromkeys(unclaimed))[:KEPT_TERMS],
    )


def _terms(explanation: Explanation) -> Mapping[str, float]:
    """Return the points by term, from the part of a tree that is about words."""
    words = next((part for part in explanation.raw().parts if part.label == "words"), None)
    if words is None:
        return {}
    return {part.label: part.value for part in words.parts if part.op == "sum" and part.value > 0}


def _by_word(advice: Sequence[CaseAdvice], *, lead: bool) -> tuple[WordAdvice, ...]:
    """Return the terms of all advice, by how much they move together."""
    by_term: dict[str, tuple[int, float, set[str]]] = {}
    for one in advice:
        for term in one.terms:
            points = term.theirs - term.ours if lead else term.ours
            requests, sum_, rivals = by_term.get(term.term, (0, 0.0, set()))
            rivals = rivals | ({one.competitor} if one.competitor is not None else set())
            by_term[term.term] = (requests + 1, sum_ + points, rivals)
    words = [
        WordAdvice(term, requests, round(points, _ROUND), tuple(sorted(rivals)))
        for term, (requests, points, rivals) in by_term.items()
    ]
    return tuple(sorted(words, key=lambda word: (-word.points, word.term)))
