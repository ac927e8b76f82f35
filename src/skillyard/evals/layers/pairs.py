"""L5 (effectiveness) and L6 (size impact): answers with and without a skill, judged in pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.base.errors import InvalidInput
from skillyard.base.io.files import sha256
from skillyard.engine.catalog import Catalog
from skillyard.engine.skill import Skill
from skillyard.evals.arms import Arms, document_of, old_document, skill_arms, split_document
from skillyard.evals.cases.reading import CasePlaces
from skillyard.evals.cases.skill_cases import AnswerCases, AnswerPrompt, read_answer_cases
from skillyard.evals.checks import add_pass_rates, run_checks
from skillyard.evals.judgement.judge import JudgeQuestion
from skillyard.evals.judgement.trust import PADDED, PLAIN, PLANTED_PAIRS, PLANTS, planted_texts
from skillyard.evals.judgement.verdicts import (
    Assignment,
    Outcome,
    both_orders,
    breakdown,
    merge,
    one_order,
    slots_won,
)
from skillyard.evals.layers.session import Judgement, ModelAnswer, ModelSession
from skillyard.evals.layers.work import (
    CaseResult,
    Layer,
    LayerWork,
    Summary,
    of_skill,
    require_cases,
    sample,
)
from skillyard.evals.models.calls import ModelRequest
from skillyard.evals.report.views import pair_layer_view
from skillyard.evals.statistics.intervals import least_units
from skillyard.evals.statistics.verdicts import HEADLINES, OVERALL, judged_pairs
from skillyard.evals.storage import SHARED, digest_of, text_digest

if TYPE_CHECKING:
    from skillyard.evals.settings import Regression, RunSettings
    from skillyard.evals.statistics.changes import Measure, Values


@dataclass(frozen=True, slots=True)
class PairUnit:
    """One prompt for one skill, with the conditions that are compared."""

    skill: str
    prompt_index: int
    case: AnswerPrompt
    """The prompt. Without criteria, its checks alone decide, and no judge is called."""
    arms: Arms
    comparisons: tuple[tuple[str, str], ...]
    offered: Mapping[str, dict[str, Any] | None] | None = None
    """The skill that an agent is offered under each condition; None where no agent answers."""

    @property
    def sha256(self) -> str:
        """A digest of what is asked, and of what decides about the answers."""
        criteria = [[each.name, each.weight, each.description] for each in self.case.criteria]
        checks = [[each.kind, each.value] for each in self.case.checks]
        files = [[file.name, sha256(file.data).hex()] for file in self.case.files]
        return digest_of([self.skill, self.case.prompt, criteria, checks, files])

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions that some comparison needs, in the order of the arms."""
        needed = {condition for pair in self.comparisons for condition in pair}
        return tuple(condition for condition in self.arms.systems if condition in needed)


@dataclass(frozen=True, slots=True)
class PairLayer:
    """Compares the answers under some arms of a skill, two at a time."""

    comparisons: tuple[tuple[str, str], ...]
    """Pairs of arms. A comparison is left out for a skill that lacks one of its arms."""
    limits: Callable[[Regression], tuple[float, int, float]]
    """The change that counts, the values needed, and the spreads that it must exceed."""

    def read(self, settings: RunSettings, places: CasePlaces, catalog: Catalog) -> LayerWork:
        """Return the prompts of each skill under test, with its arms."""
        data = require_cases(read_answer_cases(places, catalog), places)
        comparisons = self.comparisons if settings.old_version is None else _NEW_AND_OLD
        if settings.sandbox is not None:
            comparisons = tuple(dict.fromkeys((*self.comparisons, *comparisons)))
        tested: dict[str, dict[str, Any]] = {}
        digests: dict[str, str] = {}
        units: list[PairUnit] = []
        for cases in of_skill(data.cases, settings, lambda each: (each.skill,)):
            skill = catalog.get(cases.skill)
            text, folder = document_of(skill)
            arms, offered = _arms(cases, skill, text, folder, comparisons, settings)
            if arms is None:
                continue
            tested[skill.name] = arms.facts | {"expected_tier": cases.expected_tier}
            digests[skill.name] = text_digest(text)
            possible = tuple(pair for pair in comparisons if {*pair} <= arms.systems.keys())
            units += (
                PairUnit(skill.name, index, prompt, arms, possible, offered)
                for index, prompt in enumerate(cases.prompts)
            )
        if not tested:
            raise InvalidInput(f"no skill differs from what it was in {settings.old_version}")
        sampled = sample(units, settings, key=lambda unit: f"{unit.skill}/{unit.prompt_index}")
        return LayerWork(settings, catalog, sampled, data.sha256, digests, data.diagnostics, tested)

    def runner(self, work: LayerWork, session: ModelSession) -> PairRunner:
        """Return what runs the pairs."""
        return PairRunner(work, session)

    def summarise(self, cases: list[CaseResult], work: LayerWork) -> Summary:
        """Return the comparisons by skill; the artifacts are findings about the judge."""
        from skillyard.evals.statistics.verdicts import analyse_pairs

        summary, artifacts = analyse_pairs(cases, margin=work.settings.margin, looks=work.looks)
        add_pass_rates(summary, cases)
        for skill in work.tested.keys() & summary.keys():
            summary[skill] |= work.tested[skill]
        return summary, artifacts

    def measures(self, cases: Sequence[CaseResult], rules: Regression) -> Iterator[Measure]:
        """Yield the headline comparison of each skill, and of all skills together."""
        from skillyard.evals.statistics.changes import Measure, case_key

        values: dict[tuple[str, str], Values] = {}
        for pair in judged_pairs(cases):
            if pair.comparison in HEADLINES:
                for entity in (pair.unit[0], OVERALL):
                    of_entity = values.setdefault((entity, pair.comparison), {})
                    of_entity.setdefault(case_key(pair.case), []).append(pair.improvement)
        for (entity, comparison), of_entity in sorted(values.items()):
            yield Measure(entity, comparison, "lower", of_entity, *self.limits(rules))

    view = staticmethod(pair_layer_view)


def _arms(
    cases: AnswerCases,
    skill: Skill,
    text: str,
    folder: str | None,
    comparisons: Sequence[tuple[str, str]],
    settings: RunSettings,
) -> tuple[Arms | None, dict[str, dict[str, Any] | None] | None]:
    """Return the arms that a skill's comparisons need, and what an agent is offered under each.

    No arms for a skill that had no old version, or the same.
    """
    old = None
    if settings.old_version is not None:
        old = old_document(skill, settings.old_version)
        if old is None:
            return None, None
    offered = None if settings.sandbox is None else _offered(skill, text, old, settings)
    same_files = offered is None or offered["enhanced"] == offered.get("old")
    bodies = {split_document(each).body.strip() for each in (text, old) if each is not None}
    if old is not None and same_files and len(bodies) == 1:
        return None, None
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
    return arms, offered


def _offered(
    skill: Skill, text: str, old: str | None, settings: RunSettings
) -> dict[str, dict[str, Any] | None]:
    """Return the skill that an agent is offered under each condition."""
    from skillyard.evals.agent.model import agent_skill, old_files, skill_files

    offered: dict[str, dict[str, Any] | None] = {"baseline": None}
    offered["enhanced"] = agent_skill(skill, text, skill_files(skill))
    if old is not None and settings.old_version is not None:
        offered["old"] = agent_skill(skill, old, old_files(skill, settings.old_version))
    return offered


_NEW_AND_OLD = (("enhanced", "old"),)
EFFECTIVENESS: Layer = PairLayer(
    (("enhanced", "baseline"),),
    lambda rules: (
        rules.effectiveness.mean_drop,
        rules.effectiveness.min_cases,
        rules.effectiveness.stddev_multiplier,
    ),
)
SIZE_IMPACT: Layer = PairLayer(
    (("full", "baseline"), ("full", "summary"), ("summary", "baseline"), ("full_siblings", "full")),
    lambda rules: (rules.size_impact.score_change, rules.size_impact.min_cases, 0.0),
)
"""The comparisons of the size-impact document (evals.md §1.8)."""


BASELINE = "baseline"
"""The condition without a skill, whose answers all skills share."""


class _Reading(NamedTuple):
    """One judgement, read as scores of the two conditions."""

    order: Assignment
    judgement: Judgement
    result: Outcome | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "ab_assignment": dict(self.order.slots),
            **{
                key: self.result and self.result[key]
                for key in ("scores", "winner", "judge_winner")
            },
            "attempts": self.judgement.attempts,
            "error": self.judgement.fault and self.judgement.fault["message"],
        }


class PairRunner:
    """Answers each prompt under its conditions, and has the answers judged in pairs."""

    def __init__(self, work: LayerWork, session: ModelSession) -> None:
        self._settings = work.settings
        self._session = session
        self._plants = _planted_kinds(work.cases)

    def results(self, unit: PairUnit, run: int) -> Iterator[CaseResult]:
        """Answer under each condition, judge each pair, and yield the case of each pair."""
        answers = {name: self._answer(unit, name, run) for name in unit.conditions}
        prompt, scripts = unit.case, self._session.runs_scripts
        checks = {
            name: run_checks(prompt.checks, answer.text, prompt.files, scripts)
            for name, answer in answers.items()
            if answer.is_usable
        }
        paid: set[str] = set()
        for place, pair in enumerate(unit.comparisons):
            of_pair = {name: answers[name] for name in pair}
            is_first = (run, place) == (0, 0)
            kinds = self._plants.get((unit.skill, unit.prompt_index), ()) if is_first else ()
            case = self._head(unit, run, pair) | self._compared(unit, run, pair, of_pair, kinds)
            case["checks"] = {name: checks[name] for name in pair if checks.get(name)}
            # The cost of an answer falls on the first pair that needs it.
            costs = [answer.cost for name, answer in of_pair.items() if name not in paid]
            case["cost"] = round(sum(costs) + case["cost"], 9)
            paid.update(pair)
            yield case

    def blank(self, unit: PairUnit, run: int) -> list[CaseResult]:
        """Return the case of each pair without results."""
        return [self._head(unit, run, pair) for pair in unit.comparisons]

    def _answer(self, unit: PairUnit, condition: str, run: int) -> ModelAnswer:
        settings = self._settings
        if unit.offered is None:
            request = ModelRequest(
                model=settings.model,
                system=unit.arms.systems[condition],
                user=unit.case.prompt,
                max_tokens=settings.max_tokens,
                temperature=settings.temperature,
            )
        else:
            from skillyard.evals.agent.model import TOKENS, encoded

            request = ModelRequest(
                model=settings.model,
                system=settings.role,
                user=unit.case.prompt,
                max_tokens=TOKENS,
                temperature=None,
                workspace={"skill": unit.offered[condition], "files": encoded(unit.case.files)},
            )
        folder = SHARED if condition == BASELINE else unit.skill
        return self._session.generate(folder, request, run)

    def _judge(
        self, unit: PairUnit, run: int, orders: Sequence[Assignment], texts: Mapping[str, str]
    ) -> list[_Reading]:
        """Let the judge compare two texts in each of the orders, and read what it says."""
        readings = []
        for order in orders:
            slots = (texts[order.slots["A"]], texts[order.slots["B"]])
            question = JudgeQuestion(
                self._settings.judge_model, unit.case.prompt, slots, unit.case.criteria, run
            )
            judgement = self._session.judge(unit.skill, question)
            result = None
            if (parsed := judgement.parsed) is not None:
                band = self._settings.tie_band
                result = one_order(parsed, question.criteria, order.slots, [*texts], band)
            readings.append(_Reading(order, judgement, result))
        return readings

    def _orders(self, unit: PairUnit, run: int, pair: tuple[str, str]) -> tuple[Assignment, ...]:
        """Return the slots of the one or two calls to a judge."""
        orders = both_orders(self._settings.seed, unit.skill, unit.prompt_index, *pair, run)
        return orders if self._settings.orders == "both" else orders[:1]

    def _head(self, unit: PairUnit, run: int, pair: tuple[str, str]) -> CaseResult:
        """Return the case without results. It has the fields of every case."""
        settings, facts, (first, second) = self._settings, unit.arms.facts, pair
        order = self._orders(unit, run, pair)[0]
        return {
            "id": f"{unit.skill}/{unit.prompt_index}/{run}/{first}/{second}",
            "case_sha256": unit.sha256,
            "skill_name": unit.skill,
            "prompt_index": unit.prompt_index,
            "prompt": unit.case.prompt,
            "run_index": run,
            "comparison": f"{first}/{second}",
            "condition_a": first,
            "condition_b": second,
            "size_tier": facts["size_tier"],
            "body_bytes": facts["body_bytes"],
            "condition_sizes": {name: facts["conditions"][name] for name in pair},
            **dict.fromkeys(("scores", "improvement", "winner", "judge_winner", "judge_agrees")),
            "position_consistent": None,
            "judged": bool(unit.case.criteria),
            "ab_assignment": dict(order.slots),
            "case_seed": order.case_seed,
            **{name: {} for name in ("checks", "generations", "lengths")},
            **{name: [] for name in ("per_criterion_breakdown", "orders", "planted")},
            **{name: [] for name in ("judgements", "truncated", "lost")},
            "model": settings.model,
            "judge_model": settings.judge_model,
            "seed": settings.seed,
            "cost": 0.0,
            "judge_attempts": 0,
            "errors": [],
            "skipped": None,
        }

    def _compared(
        self,
        unit: PairUnit,
        run: int,
        pair: tuple[str, str],
        answers: Mapping[str, ModelAnswer],
        plants: Sequence[str],
    ) -> dict[str, Any]:
        """Return the fields of a case that follow from its answers: judgements, or an error.

        A pair with a refused, empty or missing answer is an error. A pair with a truncated answer
        is skipped. A pair with an invalid reply in either order is an error. A unit without
        criteria has no other result than its checks.
        """
        truncated = [name for name, answer in answers.items() if answer.truncated]
        fields: dict[str, Any] = {
            "generations": {name: answer.path for name, answer in answers.items()},
            "lengths": {name: len(answer.text) for name, answer in answers.items()},
            "truncated": truncated,
            "lost": [
                name
                for name, answer in answers.items()
                if answer.truncated or (answer.fault and answer.fault["kind"] != "missing")
            ],
            "errors": [
                {**answer.fault, "message": f"{name}: {answer.fault['message']}"}
                for name, answer in answers.items()
                if answer.fault
            ],
        }
        criteria = unit.case.criteria
        readings: list[_Reading] = []
        if not fields["errors"] and truncated:
            fields["skipped"] = "truncated"
        elif not fields["errors"] and criteria:
            texts = {name: answer.text for name, answer in answers.items()}
            readings = self._judge(unit, run, self._orders(unit, run, pair), texts)
            fields |= _scores(readings)
            if not fields["errors"]:
                replies = [
                    (each.judgement.parsed, each.order.slots)
                    for each in readings
                    if each.judgement.parsed
                ]
                fields["per_criterion_breakdown"] = breakdown(replies, criteria)
        # Without the skill if possible: answers that it made may speak to the judge themselves.
        copied = next((each for each in [*answers.values()][::-1] if each.is_usable), None)
        if copied is not None and plants:
            cell = (self._settings.seed, unit.skill, unit.prompt_index, PADDED, PLAIN, run)
            fields["planted"] = []
            for kind in plants:
                sides = planted_texts(kind, copied.text)
                planted = self._judge(unit, run, both_orders(*cell), sides)
                scores = _scores(planted)
                won = {"winner": scores.get("winner"), "slots": slots_won(scores["orders"])}
                fields["planted"].append({"kind": kind, **won})
                readings += planted
        judgements = [each.judgement for each in readings]
        return fields | {
            "judgements": [each.path for each in judgements],
            "judge_attempts": sum(each.attempts for each in judgements),
            "cost": sum(each.cost for each in judgements),
        }


def _planted_kinds(units: Sequence[PairUnit]) -> dict[tuple[str, int], list[str]]:
    """Return the kinds of planted pairs that are judged beside the first pair of units, by unit.

    They are spread over all units; there are none where no verdict can come.
    """
    judged = [each for each in units if each.comparisons and each.case.criteria]
    kinds: dict[tuple[str, int], list[str]] = {}
    if len(judged) >= least_units():
        for number in range(PLANTED_PAIRS):
            unit = judged[number * len(judged) // PLANTED_PAIRS]
            of_unit = kinds.setdefault((unit.skill, unit.prompt_index), [])
            of_unit.append(PLANTS[number % len(PLANTS)])
    return kinds


def _scores(readings: Sequence[_Reading]) -> dict[str, Any]:
    """Return the result of one or both orders, with the errors that prevent it."""
    fields: dict[str, Any] = {
        "orders": [each.to_dict() for each in readings],
        "errors": [each.judgement.fault for each in readings if each.judgement.fault],
    }
    results = [each.result for each in readings if each.result is not None]
    if fields["errors"]:
        return fields
    if len(results) == 1:
        return fields | results[0]
    merged = merge(results[0], results[1])
    del merged["order_winners"]  # each order of a case has its own winner
    return fields | merged
