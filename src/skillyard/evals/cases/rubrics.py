"""Rubrics (``<skill>.yaml``): the test prompts of a skill, and the criteria for the answers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import fsum

from skillyard.catalog import Catalog
from skillyard.errors import Diagnostic
from skillyard.evals.cases.dataset import Dataset, SourceFile, build_dataset, files_of, read_sources
from skillyard.evals.cases.parser import yaml_record
from skillyard.evals.cases.records import Notes, Record
from skillyard.evals.cases.skill_names import check_prompt, known_skill
from skillyard.evals.criteria import Criterion

__all__ = ["Rubric", "read_criteria", "read_prompts", "read_rubrics"]

WEIGHT_SUM_TOLERANCE = 0.01
"""Tolerance for the sum of the weights of a rubric, which should be 1."""
_ROUNDING = 1e-9  # binary sums of decimal weights
ADVISED_CRITERIA = (3, 6)
_FIELDS = ("skill_name", "test_prompts", "criteria")
_CRITERION_FIELDS = ("name", "weight", "description")


@dataclass(frozen=True, slots=True)
class Rubric:
    """One skill under test: its prompts, and the criteria for the answers to them."""

    skill_name: str
    test_prompts: tuple[str, ...]
    """At least one, none of them blank."""
    criteria: tuple[Criterion, ...]
    """Weights sum to 1 within 0.01; names are unique."""
    path: str = ""
    line: int | None = None
    prompt_criteria: tuple[tuple[Criterion, ...], ...] = ()
    """The criteria of each prompt, where they differ (the open format); else empty."""

    def criteria_of(self, prompt_index: int) -> tuple[Criterion, ...]:
        """Return the criteria for the prompt of that index."""
        return self.prompt_criteria[prompt_index] if self.prompt_criteria else self.criteria


def read_rubrics(folder: str | os.PathLike[str], catalog: Catalog | None = None) -> Dataset[Rubric]:
    """Read every ``*.yaml`` of a folder (or one file) as a rubric, sorted by file name.

    A rubric with an error is left out, and all of its errors are reported. With a catalog, the
    skill must be in it. Each skill has at most one rubric, because the file is named after the
    skill.
    """
    files, unreadable, digest = read_sources(files_of(folder, (".yaml", ".yml")))
    rubrics: list[Rubric] = []
    diagnostics: list[Diagnostic] = list(unreadable)
    for file in files:
        if file.readable:
            notes = Notes(file.path)
            rubric = _rubric(file, catalog, notes)
            rubrics.extend([rubric] if rubric is not None else [])
            diagnostics += notes.diagnostics
    return build_dataset(rubrics, diagnostics, files, digest)


def _rubric(file: SourceFile, catalog: Catalog | None, notes: Notes) -> Rubric | None:
    record = yaml_record(file.text, notes)
    if record is None:
        return None
    record.only(_FIELDS)
    name = record.some_text("skill_name")
    stem = os.path.splitext(os.path.basename(file.path))[0]
    if name and name != stem:
        record.wrong(
            "skill_name",
            f"differs from the file's name, {stem}",
            f"name the file {name}.yaml, or write skill_name: {stem}",
            name,
        )
    skill = known_skill(catalog, name, record, "skill_name") if name == stem else None
    prompts = read_prompts(record, "test_prompts", name)
    criteria = read_criteria(record, "criteria")
    if notes.errors:
        return None
    skill_name = name if skill is None else skill.name
    return Rubric(skill_name, prompts, criteria, file.path, record.line_of("skill_name"))


def read_prompts(record: Record, field: str, skill: str) -> tuple[str, ...]:
    """Return a record's prompts: at least one, no two alike, none that names the skill."""
    if not record.required(field):
        return ()
    before = record.notes.errors
    located = record.located_texts(field)
    if not located and record.notes.errors == before:
        record.wrong(field, "is empty", "write at least one prompt")
    prompts = tuple(prompt for prompt, _ in located)
    for number, (prompt, line) in enumerate(located):
        if prompt in prompts[:number]:
            record.notes.error(
                "case_duplicate_prompt",
                line,
                f"{record.what}{field} holds a prompt twice",
                "remove one: repeats are what --runs is for",
                prompt,
            )
        check_prompt(prompt, [skill], record.notes, line)
    return prompts


def read_criteria(record: Record, field: str) -> tuple[Criterion, ...]:
    """Return a record's criteria; everything that is wrong with them is noted, not the first only.

    Empty where the field is absent, which is noted too.
    """
    if not record.required(field):
        return ()
    notes = record.notes
    before = notes.errors
    entries = record.records(field)
    if not entries and notes.errors == before:
        record.wrong(field, "is empty", "write at least one criterion")
    criteria = [_criterion(entry) for entry in entries]
    names: dict[str, int] = {}
    for entry, criterion in zip(entries, criteria, strict=True):
        key = criterion.name.casefold()
        if key and key in names:
            entry.wrong("name", f"is that of criteria[{names[key]}] too", "rename one of the two")
        names.setdefault(key, len(names))
    if notes.errors > before:
        return ()
    total = fsum(criterion.weight for criterion in criteria)
    if abs(total - 1) > WEIGHT_SUM_TOLERANCE + _ROUNDING:
        record.notes.error(
            "rubric_weights",
            record.line_of(field),
            f"the weights sum to {total:.6g}, not to 1",
            f"make them sum to 1 (within {WEIGHT_SUM_TOLERANCE})",
            ", ".join(f"{criterion.weight:g}" for criterion in criteria),
        )
        return ()
    low, high = ADVISED_CRITERIA
    if not low <= len(criteria) <= high:
        notes.warning(
            "rubric_criteria_count",
            record.line_of(field),
            f"{len(criteria)} criteria",
            f"{low} to {high} are advised: fewer say little, more are not kept apart by judges",
        )
    return tuple(criteria)


def _criterion(entry: Record) -> Criterion:
    entry.only(_CRITERION_FIELDS)
    name = entry.some_text("name")
    weight = None
    if entry.required("weight"):
        weight = entry.number("weight", None, low=0, high=1, above=True)
    return Criterion(name, float(weight or 0.0), entry.some_text("description"))
