"""Candidates for the size-impact layer (``candidates.yaml``): skills, prompts, sibling files."""

from __future__ import annotations

import os
from dataclasses import dataclass

from skillyard.catalog import Catalog
from skillyard.evals.cases.dataset import Dataset, build_dataset, files_of, read_sources
from skillyard.evals.cases.parser import yaml_record
from skillyard.evals.cases.records import Located, Notes, Record
from skillyard.evals.cases.rubrics import read_criteria, read_prompts
from skillyard.evals.cases.skill_names import known_skill
from skillyard.evals.conditions.siblings import MAX_SIBLING_BYTES
from skillyard.evals.criteria import DEFAULT_CRITERIA, Criterion

__all__ = ["TIERS", "Candidate", "read_candidates"]

TIERS = ("small", "medium", "large")
_MAX_SIBLING_BYTES = 10_000_000
_FIELDS = (
    *("skill", "test_prompt", "test_prompts", "expected_tier", "siblings"),
    *("max_sibling_bytes", "criteria"),
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One skill whose full text, summary and absence are compared."""

    skill: str
    test_prompts: tuple[str, ...]
    expected_tier: str | None = None
    """``small``, ``medium`` or ``large``: the size that the author expects, or None."""
    siblings: tuple[str, ...] = ()
    """Files beside the skill, as they are named, in their order. Not looked at here."""
    max_sibling_bytes: int = MAX_SIBLING_BYTES
    criteria: tuple[Criterion, ...] = DEFAULT_CRITERIA
    path: str = ""
    line: int | None = None


def read_candidates(
    path: str | os.PathLike[str], catalog: Catalog | None = None
) -> Dataset[Candidate]:
    """Read a ``candidates.yaml``: ``candidates: [{skill, test_prompts, …}]``.

    A candidate with an error is left out, and all of its errors are reported. A skill may occur
    once. Sibling paths are not checked here; ``conditions/siblings.py`` refuses those that may not
    be read.
    """
    files, unreadable, digest = read_sources(files_of(path, (".yaml", ".yml")))
    diagnostics = list(unreadable)
    candidates: list[Candidate] = []
    for file in files:
        notes = Notes(file.path)
        record = yaml_record(file.text, notes) if file.readable else None
        if record is not None:
            candidates += _candidates(record, catalog, {each.skill for each in candidates})
        diagnostics += notes.diagnostics
    return build_dataset(candidates, diagnostics, files, digest)


def _candidates(record: Record, catalog: Catalog | None, known: set[str]) -> list[Candidate]:
    record.only(["candidates"])
    if not record.required("candidates"):
        return []
    valid = []
    for entry in record.records("candidates"):
        before = entry.notes.errors
        candidate = _candidate(entry, catalog)
        if candidate.skill and candidate.skill in known:
            entry.wrong(
                "skill", "is a candidate twice", "put all prompts into one entry", candidate.skill
            )
        known.add(candidate.skill)
        if entry.notes.errors == before:
            valid.append(candidate)
    return valid


def _candidate(entry: Record, catalog: Catalog | None) -> Candidate:
    entry.only(_FIELDS)
    skill = entry.some_text("skill")
    listed_skill = known_skill(catalog, skill, entry, "skill")
    skill = skill if listed_skill is None else listed_skill.name
    tier = entry.text("expected_tier") or None
    if tier is not None and tier not in TIERS:
        entry.wrong("expected_tier", "is no tier", f"write {', '.join(TIERS)}", tier)
    siblings = entry.texts("siblings")
    if len(set(siblings)) < len(siblings):
        entry.notes.warning(
            "candidate_sibling_twice",
            entry.line_of("siblings"),
            f"{entry.what}siblings names a file twice; it is injected once",
            "remove one",
        )
    cap = entry.number(
        "max_sibling_bytes", MAX_SIBLING_BYTES, low=1, high=_MAX_SIBLING_BYTES, whole=True
    )
    criteria = read_criteria(entry, "criteria") if "criteria" in entry else DEFAULT_CRITERIA
    return Candidate(
        skill,
        _prompts(entry, skill),
        tier,
        tuple(dict.fromkeys(siblings)),
        int(cap or MAX_SIBLING_BYTES),
        criteria,
        entry.notes.path,
        entry.line,
    )


def _prompts(entry: Record, skill: str) -> tuple[str, ...]:
    """Return the prompts, from ``test_prompts`` or the one ``test_prompt``."""
    if "test_prompt" not in entry:
        return read_prompts(entry, "test_prompts", skill)
    if "test_prompts" in entry:
        entry.wrong("test_prompt", "stands beside test_prompts", "keep one of the two")
        return ()
    line = entry.line_of("test_prompt")
    one = Located([Located(entry.raw("test_prompt"), line)], line)
    if entry.raw("test_prompt") is None:
        one = Located(None, line)
    alone = Record({"test_prompt": one}, entry.line, entry.notes, entry.what)
    return read_prompts(alone, "test_prompt", skill)
