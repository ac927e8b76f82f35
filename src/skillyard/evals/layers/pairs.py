"""L5 (effectiveness) and L6 (size impact): answers of a model with and without a skill, in pairs.

Both compare arms of a skill in the same way. L5 has two arms, ``enhanced`` and ``baseline``. L6
also has a summary and, where a skill has siblings, these.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput, ResourceRefused
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.catalog import Catalog
from skillyard.engine.formats.frontmatter import decode
from skillyard.engine.resources import read_file, skill_folder
from skillyard.engine.skill import Skill
from skillyard.evals.arms import old_document, skill_arms
from skillyard.evals.cases.reading import CasePlaces
from skillyard.evals.cases.skill_cases import AnswerCases, read_answer_cases
from skillyard.evals.checks import add_pass_rates
from skillyard.evals.layers.pair_runner import PairRunner
from skillyard.evals.layers.work import (
    CaseResult,
    Layer,
    LayerWork,
    PairUnit,
    Summary,
    TestedSkill,
    check_known,
    require_cases,
    sample,
)
from skillyard.evals.regression.changes import Measure, Values, case_key
from skillyard.evals.statistics.verdicts import HEADLINES, OVERALL, judged_pairs
from skillyard.evals.storage import text_digest
from skillyard.evals.summaries import split_document

if TYPE_CHECKING:
    from skillyard.evals.agent.workspace import AgentSkill
    from skillyard.evals.layers.session import ModelSession
    from skillyard.evals.report.values import LayerView
    from skillyard.evals.settings import Regression, RunSettings


@dataclass(frozen=True, slots=True)
class PairLayer:
    """Compares the answers under some arms of a skill, two at a time."""

    name: str
    comparisons: tuple[tuple[str, str], ...]
    """Pairs of arms. A comparison is left out for a skill that lacks one of its arms."""
    limits: Callable[[Regression], tuple[float, int, float]]
    """The change that counts, the values needed, and the spreads that it must exceed."""

    def read(self, settings: RunSettings, places: CasePlaces, catalog: Catalog) -> LayerWork:
        """Return the prompts of each skill under test, with its arms."""
        data = require_cases(read_answer_cases(places, catalog), places)
        skills = data.cases
        if settings.skill is not None:
            check_known("--skill", settings.skill, {each.skill for each in skills})
            skills = tuple(each for each in skills if each.skill == settings.skill)
        comparisons = self.comparisons if settings.old_version is None else _NEW_AND_OLD
        if settings.sandbox is not None:
            comparisons = tuple(dict.fromkeys((*self.comparisons, *comparisons)))
        tested = tuple(
            each
            for cases in skills
            if (each := _tested_skill(cases, comparisons, catalog, settings)) is not None
        )
        if not tested:
            raise InvalidInput(f"no skill differs from what it was in {settings.old_version}")
        units = sample(
            [unit for each in tested for unit in each.units],
            settings,
            key=lambda unit: f"{unit.skill}/{unit.prompt_index}",
        )
        digests = {each.skill: each.sha256 for each in tested}
        return LayerWork(
            settings, catalog, units, data.sha256, digests, data.diagnostics, tested=tested
        )

    def runner(self, work: LayerWork, session: ModelSession) -> PairRunner:
        """Return what runs the pairs."""
        return PairRunner(work, session)

    def summarise(self, cases: list[CaseResult], work: LayerWork) -> Summary:
        """Return the comparisons by skill; the artifacts are findings about the judge."""
        from skillyard.evals.statistics.analysis import analyse_pairs

        summary, artifacts = analyse_pairs(cases, margin=work.settings.margin, looks=work.looks)
        add_pass_rates(summary, cases)
        for tested in work.tested:
            if tested.skill in summary:
                fields = tested.to_dict()
                sizes = fields.pop("conditions")
                summary[tested.skill] |= fields
                for name, size in sizes.items():
                    summary[tested.skill]["conditions"].setdefault(name, {}).update(size)
        return summary, artifacts

    def measures(self, cases: Sequence[CaseResult], rules: Regression) -> Iterator[Measure]:
        """Yield the headline comparison of each skill, and of all skills together."""
        values: dict[tuple[str, str], Values] = {}
        for pair in judged_pairs(cases):
            if pair.comparison in HEADLINES:
                for entity in (pair.unit[0], OVERALL):
                    of_entity = values.setdefault((entity, pair.comparison), {})
                    of_entity.setdefault(case_key(pair.case), []).append(pair.improvement)
        for (entity, comparison), of_entity in sorted(values.items()):
            yield Measure(entity, comparison, "lower", of_entity, *self.limits(rules))

    def view(self, envelope: Mapping[str, object]) -> LayerView:
        """Return the verdicts and comparisons, as they are shown."""
        from skillyard.evals.report.pairs import pair_layer_view

        return pair_layer_view(envelope)


def _tested_skill(
    cases: AnswerCases,
    comparisons: Sequence[tuple[str, str]],
    catalog: Catalog,
    settings: RunSettings,
) -> TestedSkill | None:
    """Return a skill with the arms that its comparisons need, and a unit for each prompt.

    None for a skill that had no old version, or the same. Raises SkillError when the skill's file
    has become unreadable.
    """
    skill = catalog.get(cases.skill)
    text, folder = _document_of(skill)
    old = None
    if settings.old_version is not None:
        old = old_document(skill, settings.old_version)
        if old is None:
            return None
    offered = None if settings.sandbox is None else _offered(skill, text, old, settings)
    same_files = offered is None or offered["enhanced"] == offered.get("old")
    if old is not None and same_files and _body(old) == _body(text):
        return None
    arms = skill_arms(
        text,
        folder,
        conditions={condition for pair in comparisons for condition in pair},
        role=settings.role,
        siblings=cases.siblings,
        max_sibling_bytes=cases.max_sibling_bytes,
        chars_per_token=settings.chars_per_token,
        old_md=old,
    )
    possible = tuple(pair for pair in comparisons if all(name in arms.arms for name in pair))
    units = tuple(
        PairUnit(skill.name, index, prompt, arms, possible, offered)
        for index, prompt in enumerate(cases.prompts)
    )
    return TestedSkill(skill.name, text_digest(text), arms, units, cases.expected_tier)


def _body(document: str) -> str:
    return split_document(document).body.strip()


def _offered(
    skill: Skill, text: str, old: str | None, settings: RunSettings
) -> dict[str, AgentSkill | None]:
    """Return the skill that an agent is offered under each condition."""
    from skillyard.evals.agent.workspace import agent_skill, old_files, skill_files

    offered = {"enhanced": agent_skill(skill, text, skill_files(skill)), "baseline": None}
    if old is not None and settings.old_version is not None:
        offered["old"] = agent_skill(skill, old, old_files(skill, settings.old_version))
    return offered


def _document_of(skill: Skill) -> tuple[str, str | None]:
    """Return the text of a skill's document, and the folder of the files beside it.

    A skill that was created in code is rendered, and has no folder. Raises SkillIoError and
    SkillError when the file has changed or cannot be read.
    """
    if not skill.path:
        fields = {"name": skill.name, "description": skill.description}
        front = "".join(f"{field}: {json.dumps(value)}\n" for field, value in fields.items())
        return f"---\n{front}---\n\n{skill.body or ''}\n", None
    data = read_file(skill.path, DEFAULT_LIMITS.skill_file_bytes).data
    try:
        folder = skill_folder(skill)
    except ResourceRefused:  # a single document, with nothing beside it
        folder = None
    return decode(data, skill.path), folder


_NEW_AND_OLD = (("enhanced", "old"),)
EFFECTIVENESS: Layer = PairLayer(
    "effectiveness",
    (("enhanced", "baseline"),),
    lambda rules: (
        rules.effectiveness.mean_drop,
        rules.effectiveness.min_cases,
        rules.effectiveness.stddev_multiplier,
    ),
)
SIZE_IMPACT: Layer = PairLayer(
    "size_impact",
    (("full", "baseline"), ("full", "summary"), ("summary", "baseline"), ("full_siblings", "full")),
    lambda rules: (rules.size_impact.score_change, rules.size_impact.min_cases, 0.0),
)
"""The comparisons of the size-impact document (evals.md §1.8)."""
