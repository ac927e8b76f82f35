"""Loads the cases of a run, and applies its filters and limit."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeVar

from skillyard.catalog import Catalog
from skillyard.errors import Diagnostic, InvalidInput
from skillyard.evals.cases.activation import ActivationCase, read_activation
from skillyard.evals.cases.candidates import read_candidates
from skillyard.evals.cases.confusion import ConfusionCase, groups_of, read_confusion
from skillyard.evals.cases.dataset import Dataset
from skillyard.evals.cases.open_formats import (
    read_open_evals,
    read_skill_evals,
    read_trigger_set,
    rubrics_of,
)
from skillyard.evals.cases.rubrics import Rubric, read_rubrics
from skillyard.evals.cases.sampling import sample, sample_activation
from skillyard.evals.layers.pair_cases import PairUnit
from skillyard.evals.layers.router import routed_skills
from skillyard.evals.layers.units import TestedSkill, effectiveness_units, size_impact_units
from skillyard.evals.settings import RunSettings
from skillyard.evals.storage.keys import text_digest

__all__ = ["BadCases", "Pairs", "Places", "Routes", "prepare"]

Case = TypeVar("Case")


class BadCases(InvalidInput):
    """Case files hold errors; nothing was run. ``diagnostics`` name file, line and fix."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        errors = [each for each in diagnostics if each.severity == "error"]
        first = errors[0]
        line = f":{first.line}" if first.line is not None else ""
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"{first.path}{line}: {first.message}; {first.hint}{more}")
        self.diagnostics = tuple(diagnostics)


@dataclass(frozen=True, slots=True)
class Places:
    """The paths of the cases of one layer."""

    paths: tuple[str, ...]
    """Files or folders."""
    in_skills: bool = False
    """Look into the ``evals`` folders of the skills instead."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """The work of L5 and L6."""

    tested: tuple[TestedSkill, ...]
    units: tuple[PairUnit, ...]
    """The units of the skills under test, after ``--limit``."""
    dataset_sha256: str
    skill_sha256s: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Routes:
    """The work of L3 and L4; ``groups`` is empty for L3."""

    cases: tuple[ActivationCase, ...] | tuple[ConfusionCase, ...]
    groups: Mapping[str, tuple[str, ...]]
    dataset_sha256: str
    skill_sha256s: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]


def prepare(settings: RunSettings, places: Places, catalog: Catalog) -> Pairs | Routes:
    """Return what a run works on.

    Raises BadCases for errors in case files, InvalidInput where there are no cases or ``--skill``
    or ``--group`` names none of them, SkillError for a skill that cannot be read.
    """
    return _PREPARE[settings.eval_type](settings, places, catalog)


def _activation(settings: RunSettings, places: Places, catalog: Catalog) -> Routes:
    data = _activation_data(settings, places, catalog)
    cases: Sequence[ActivationCase] = data.cases
    if settings.skill is not None:
        _check_known(
            "--skill", settings.skill, {name for case in cases for name in _skills_of(case)}
        )
        cases = [case for case in cases if settings.skill in _skills_of(case)]
    sampled = sample_activation(cases, settings.limit, seed=settings.seed)
    return Routes(sampled, {}, data.sha256, _digests(catalog), data.diagnostics)


def _activation_data(
    settings: RunSettings, places: Places, catalog: Catalog
) -> Dataset[ActivationCase]:
    if places.in_skills:
        return _require_cases(
            read_skill_evals(catalog).triggers, "trigger sets in the skills' folders"
        )
    sets = [path for path in places.paths if path.endswith(".json")]
    if not sets:
        return _require_cases(
            read_activation(*places.paths, catalog=catalog), _joined_paths(places)
        )
    if len(places.paths) > 1 or settings.skill is None:
        raise InvalidInput(
            "a trigger set is read alone, with --skill NAME for the skill it is about"
        )
    return _require_cases(read_trigger_set(sets[0], settings.skill, catalog), sets[0])


def _skills_of(case: ActivationCase) -> tuple[str, ...]:
    about = (case.about,) if case.about is not None else ()
    return (*case.expected_skills, *case.acceptable_skills, *about)


def _confusion(settings: RunSettings, places: Places, catalog: Catalog) -> Routes:
    data = _require_cases(read_confusion(*places.paths, catalog=catalog), _joined_paths(places))
    groups = groups_of(data.cases)
    cases: Sequence[ConfusionCase] = data.cases
    if settings.group is not None:
        _check_known("--group", settings.group, groups)
        groups = {settings.group: groups[settings.group]}
        cases = [case for case in cases if case.group in ("", settings.group)]
    sampled = sample(
        cases, settings.limit, seed=settings.seed, layer="confusion", key=lambda case: case.id
    )
    members = None
    if settings.index == "group":
        members = {name for names in groups.values() for name in names}
    return Routes(sampled, groups, data.sha256, _digests(catalog, members), data.diagnostics)


def _effectiveness(settings: RunSettings, places: Places, catalog: Catalog) -> Pairs:
    rubrics, sha256, diagnostics = _rubrics(places, catalog)
    if settings.skill is not None:
        _check_known("--skill", settings.skill, {rubric.skill_name for rubric in rubrics})
        rubrics = tuple(each for each in rubrics if each.skill_name == settings.skill)
    tested = effectiveness_units(
        rubrics, catalog, role=settings.role, chars_per_token=settings.chars_per_token
    )
    return _pairs(tested, settings, sha256, diagnostics)


def _rubrics(
    places: Places, catalog: Catalog
) -> tuple[tuple[Rubric, ...], str, tuple[Diagnostic, ...]]:
    files = [path for path in places.paths if path.endswith(".json")]
    if not places.in_skills and not files:
        data = [_require_cases(read_rubrics(path, catalog), path) for path in places.paths]
        rubrics = tuple(rubric for each in data for rubric in each.cases)
        diagnostics = tuple(each_one for each in data for each_one in each.diagnostics)
        return rubrics, _digest_of(data), diagnostics
    if places.in_skills:
        evals = _require_cases(read_skill_evals(catalog).evals, "evals.json in the skills' folders")
    else:
        evals = _require_cases(
            read_open_evals(*places.paths, catalog=catalog), _joined_paths(places)
        )
    rubrics, left_out = rubrics_of(evals.cases, catalog)
    return rubrics, evals.sha256, (*evals.diagnostics, *left_out)


def _size_impact(settings: RunSettings, places: Places, catalog: Catalog) -> Pairs:
    data = [_require_cases(read_candidates(path, catalog), path) for path in places.paths]
    candidates = tuple(candidate for each in data for candidate in each.cases)
    if settings.skill is not None:
        _check_known("--skill", settings.skill, {each.skill for each in candidates})
        candidates = tuple(each for each in candidates if each.skill == settings.skill)
    tested = size_impact_units(
        candidates, catalog, role=settings.role, chars_per_token=settings.chars_per_token
    )
    diagnostics = tuple(each_one for each in data for each_one in each.diagnostics)
    return _pairs(tested, settings, _digest_of(data), diagnostics)


_PREPARE: Mapping[str, Callable[[RunSettings, Places, Catalog], Pairs | Routes]] = {
    "activation": _activation,
    "confusion": _confusion,
    "effectiveness": _effectiveness,
    "size_impact": _size_impact,
}


def _pairs(
    tested: Sequence[TestedSkill],
    settings: RunSettings,
    sha256: str,
    diagnostics: tuple[Diagnostic, ...],
) -> Pairs:
    if not tested:
        raise InvalidInput("there are no cases; `skillyard eval init NAME` writes the first ones")
    units = sample(
        [unit for each in tested for unit in each.units],
        settings.limit,
        seed=settings.seed,
        layer=settings.eval_type,
        key=lambda unit: f"{unit.skill}/{unit.prompt_index}",
    )
    digests = {each.skill: each.sha256 for each in tested}
    return Pairs(tuple(tested), units, sha256, digests, diagnostics)


def _require_cases(data: Dataset[Case], where: str) -> Dataset[Case]:
    """Return a dataset without errors and with cases. Raises BadCases, InvalidInput."""
    if data.errors:
        raise BadCases(data.diagnostics)
    if not data.cases:
        raise InvalidInput(
            f"there are no cases in {where}; `skillyard eval init NAME` writes the first ones"
        )
    return data


def _check_known(flag: str, name: str, known: Iterable[str]) -> None:
    names = sorted(known)
    if name in names:
        return
    near = get_close_matches(name, names, 1, 0.6)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names) or 'none'}"
    raise InvalidInput(f"{flag} {name}: no case is about it; {hint}")


def _digest_of(data: Sequence[Dataset[Case]]) -> str:
    if len(data) == 1:
        return data[0].sha256
    return text_digest("\n".join(each.sha256 for each in data))


def _joined_paths(places: Places) -> str:
    return ", ".join(os.path.normpath(path) for path in places.paths)


def _digests(catalog: Catalog, members: Container[str] | None = None) -> dict[str, str]:
    """Return the content hash of every skill that a router may pick, by name."""
    return {
        skill.name: skill.hash
        for skill in routed_skills(catalog)
        if members is None or skill.name in members
    }
