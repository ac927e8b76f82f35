"""Proposals composed from evidence: no model, no chance, the same for the same cases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from skillyard.catalog import Catalog
from skillyard.evals.cases.activation import ActivationCase
from skillyard.ranking.hybrid.query_analysis import written_forms
from skillyard.shapes.improvements import Proposal
from skillyard.skill import Skill
from skillyard.text import find_hidden
from skillyard.usecases.suggestions import Suggestions, suggest
from skillyard.validation.descriptions import CHECKS
from skillyard.validation.view import Content, View, kind_of

__all__ = [
    "description_fault",
    "evidence_of",
    "missing_terms",
    "propose_from_evidence",
    "shared_terms",
    "statement_of",
]

FEW_TERMS = 4
MANY_TERMS = 10
"""Most terms that a proposal adds: a longer list reads like keywords and attracts anything."""
_LEAD = "Use for requests about "
_SENTENCE = re.compile(rf"{_LEAD}([^.]+)\.$")
"""A sentence that an earlier proposal added."""
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\b[a-z]\.[a-z]\.) (?![a-z])")
_CLAUSE = re.compile(r"(?:[^.;,]|\.(?=\S)|(?<=\b[a-z]\.[a-z])\.)+[.;,]*\s*")
_WHEN = re.compile(
    r"(?:also |only )?use[ds]?(?: this| it| the)?(?: skill)? "
    r"(?:when|whenever|for|if|before|after|while|to|on|only|as|in|also|proactively|by|with)\b"
    r"|(?:also |only )?(?:invoked?|activated?|triggers?|triggered|apply|applies|loads?|runs?)"
    r"(?: this| it| the)?(?: skill)? (?:when|whenever|if|before|after|only when|proactively)\b"
    r"|(?:when|whenever|if|only (?:when|if|for)|not (?:for|to|when|a))\b"
    r"|(?:never|does not|do not|don't)\b"
    r"|(?:keywords|triggers?|trigger words|trigger phrases) ?:",
    re.IGNORECASE,
)
"""How a sentence begins that says when to use a skill, or what it is not for."""
_BLOCK = "name: any\ndescription: any\n"
"""Frontmatter that has the field; its text is checked apart."""


def evidence_of(catalog: Catalog, skill: Skill, cases: Iterable[ActivationCase]) -> Suggestions:
    """Return what the default scorer says about the cases that go wrong."""
    return suggest(catalog, skill.id or skill.name, cases)


def propose_from_evidence(skill: Skill, evidence: Suggestions) -> list[Proposal]:
    """Return at most four proposals that the evidence suggests.

    They have few or many of the missing terms, and lack clauses that attract requests of others.
    """
    missing, shared = missing_terms(evidence), shared_terms(evidence)
    present = " ".join(skill.description.split())
    shortened, removed = _without_clauses(present, shared)
    terms = [term for term in missing if term not in removed]
    variants = [
        (present, (), terms[:FEW_TERMS]),
        (present, (), terms[:MANY_TERMS]),
        (shortened, removed, []),
        (shortened, removed, terms[:FEW_TERMS]),
    ]
    proposals: dict[str, Proposal] = {}
    for base, without, added in variants:
        text = _with_terms(base, added)
        if text != present and not description_fault(skill, text):
            proposal = Proposal(
                origin="evidence",
                description=text,
                added=tuple(added),
                removed=without,
                first_half=None,
            )
            proposals.setdefault(text, proposal)
    return list(proposals.values())


def description_fault(skill: Skill, description: str) -> str:
    """Return why ``check`` would refuse this description of a skill; empty where it would not."""
    hidden = find_hidden(description)
    if hidden is not None:
        return f"the description contains {hidden.label}"
    if description != " ".join(description.split()):
        return "the description is not one line of words"
    content = Content(skill.name, description, _BLOCK, "")
    view = View(skill.path, kind_of(skill.path, skill.origin), content)
    findings = (finding for rule in CHECKS for finding in rule.find(view))
    return next((finding.message for finding in findings), "")


def missing_terms(evidence: Suggestions) -> list[str]:
    """Return the terms of requests that the skill misses and does not have, the most common first.

    Terms in which a competitor leads and terms that no skill has count alike. Terms of a single
    request say little about others: they are left out where requests share some.
    """
    requests: Counter[str] = Counter()
    for case in evidence.cases:
        if case.wanted:
            lacking = [term.term for term in case.terms if term.ours == 0]
            requests.update({*lacking, *case.unclaimed})
    terms = sorted(requests, key=lambda term: (-requests[term], term))
    common = [term for term in terms if requests[term] > 1]
    return common or terms[:FEW_TERMS]


def shared_terms(evidence: Suggestions) -> list[str]:
    """Return the terms that attract requests of others, the most points first."""
    return [word.term for word in evidence.shared]


def _with_terms(description: str, terms: Sequence[str]) -> str:
    """Return the description with a sentence of the terms, or with more terms in that sentence."""
    if not terms:
        return description
    sentence = _SENTENCE.search(description)
    if sentence is not None:
        earlier = re.split(r", | or ", sentence[1])
        return f"{description[: sentence.start()]}{_LEAD}{_listed([*earlier, *terms])}."
    end = "" if not description or description[-1] in ".!?" else "."
    return f"{description}{end} {_LEAD}{_listed(terms)}.".strip()


def _listed(terms: Sequence[str]) -> str:
    if len(terms) == 1:
        return terms[0]
    return f"{', '.join(terms[:-1])} or {terms[-1]}"


def statement_of(description: str) -> str:
    """Return the sentence that says what a skill does: the first that is not about when to use it.

    Empty where the description has none.
    """
    return next((each for each in _sentences(description) if not _WHEN.match(each)), "")


def _sentences(description: str) -> list[str]:
    """Return the sentences; none ends in ``e.g.``, or before a small letter."""
    return _SENTENCE_END.split(" ".join(description.split()))


def _without_clauses(description: str, terms: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the description without the clauses that contain one of the terms, and these terms.

    The sentence that says what the skill does stays as it is. A description that would lose all of
    its clauses is returned unchanged.
    """
    stems = {stem: term for term in terms for stem in written_forms(term)}
    statement = statement_of(description)
    sentences, removed = [], set()
    for sentence in _sentences(description):
        clauses = [sentence] if sentence == statement else _CLAUSE.findall(sentence)
        hits = [
            set() if clause == statement else stems.keys() & written_forms(clause).keys()
            for clause in clauses
        ]
        removed |= {stems[stem] for hit in hits for stem in hit}
        rest = [clause for clause, hit in zip(clauses, hits, strict=True) if not hit]
        if len(rest) == len(clauses):
            sentences.append(sentence)
        elif text := "".join(rest).strip(" ,;"):
            end = "" if text[-1] in ".!?" else "."
            sentences.append(f"{text[0].upper()}{text[1:]}{end}")
    if not sentences or not removed:
        return description, ()
    return " ".join(sentences), tuple(term for term in terms if term in removed)
