"""The calls and costs of a run, computed without sending a request (evals.md §1.17)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median_high
from typing import Any, NamedTuple

from skillyard.base.text import plural
from skillyard.evals.cases.input_files import InputFile
from skillyard.evals.checks.outcome import Check, CheckOutcome
from skillyard.evals.conditions.arms import estimate_tokens
from skillyard.evals.criteria import Criterion
from skillyard.evals.judgement.prompt import JudgeQuestion, judge_prompt
from skillyard.evals.layers.looks import LOOKS
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.layers.session import (
    Judgement,
    ModelAnswer,
    ModelSession,
    answer_of,
    generation_fault,
    is_failed_judgement,
    judgement_fault,
)
from skillyard.evals.layers.work import LayerWork, diagnostic_line, load_layer
from skillyard.evals.models.prices import estimate
from skillyard.evals.models.protocol import ChatModel, ModelRequest
from skillyard.evals.statistics.planning import PlannedVerdict, least_units, planned_verdicts
from skillyard.evals.storage.entries import GENERATIONS, JUDGEMENTS, Entries, count_of
from skillyard.evals.storage.keys import generation_key, judgement_key

UNSEEN_TOKENS = 800
"""Assumed output tokens of a call if the cache has no call of its kind."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The output of ``--dry-run``."""

    eval_type: str
    cases: int
    generations: dict[str, int]
    """``planned``, ``kept`` (in the cache) and ``to_make``."""
    judgements: dict[str, int]
    cost_low: float | None
    """US dollars, every output as long as the median of those that are kept; None where a price
    is not known."""
    cost_high: float | None
    """US dollars, every output as long as it may be, and no retries."""
    output_assumed: bool
    """True if the cache gave no median, so ``cost_low`` assumes 800 tokens."""
    price_source: str
    price_date: str
    unpriced: tuple[str, ...]
    """Models whose price is not known."""
    unnamed: tuple[str, ...]
    """Options that have to name a model before the cost is known."""
    input_tokens: int
    """Estimated input tokens of the calls to make; an answer that is not there yet counts as the
    median of those that are."""
    max_output_tokens: int
    """Output tokens of the calls to make, every output as long as it may be."""
    warnings: tuple[str, ...]
    """Cases that could not be read and are left out, and other faults of the case files."""
    skills: tuple[dict[str, Any], ...]
    """For L5 and L6: sizes, tier and siblings of each skill under test."""
    verdicts: tuple[PlannedVerdict, ...] = ()
    """For L5 and L6: what the prompts that are judged can show of each skill that has any."""
    checks_only: Mapping[str, int] = field(default_factory=dict)
    """For L5 and L6: the prompts of each skill that have checks alone, and so no judge."""

    @property
    def undecidable(self) -> tuple[PlannedVerdict, ...]:
        """The skills for which no result could count."""
        return tuple(each for each in self.verdicts if not each.can_decide)

    @property
    def pool_can_decide(self) -> bool:
        """True if there are so many skills that a verdict on all of them together is likely."""
        return len(self.verdicts) >= least_units()

    @property
    def pays(self) -> bool:
        """True if a request has to be sent."""
        return bool(self.generations["to_make"] + self.judgements["to_make"])

    @property
    def messages(self) -> dict[str, list[str]]:
        """Sentences on what the prompts can show, each with its skills."""
        by_message: dict[str, list[str]] = {}
        for each in self.verdicts:
            by_message.setdefault(each.message, []).append(each.skill)
        for skill in self.checks_only:
            by_message.setdefault(self.checks_only_message(skill), []).append(skill)
        return by_message

    def checks_only_message(self, skill: str) -> str:
        """Return what the prompts of a skill show that have checks alone."""
        prompts = plural(self.checks_only[skill], "prompt")
        return f"{prompts} with checks alone: a pass rate, and no verdict of a judge"

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.eval-plan/1``."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {
            "schema": "skillyard.eval-plan/1",
            **fields,
            "verdicts": [asdict(each) for each in self.verdicts],
        }


def plan(work: LayerWork, session: PlanSession) -> Plan:
    """Return the plan of a run.

    The jobs of the run are worked through with a session that looks into the cache and sends
    nothing. Judgements of answers that do not exist yet count as calls. A run makes fewer calls
    where two answers turn out to be equal.
    """
    settings = work.settings
    layer = LAYERS[settings.eval_type]
    run = load_layer(layer.name).run(work, session, lambda case: None)
    if settings.asks_models:
        for job in run.jobs():
            job()
    models = sorted({call.request.model for call in session.calls})
    prices = {name: session.price_of(name) for name in models if name}
    known = next((price for price in prices.values() if price is not None), None)
    prompts = Counter(unit.skill for unit in work.cases if work.tested)
    judged = Counter(unit.skill for unit in work.cases if work.tested and unit.case.criteria)
    looks = LOOKS if settings.until_decided else 1
    verdicts = planned_verdicts(judged, looks=looks) if layer.decides else ()
    low, high = session.estimate(session.calls, low=True), session.estimate(session.calls)
    return Plan(
        eval_type=settings.eval_type,
        cases=len(run.cases("")),
        generations=session.planned(GENERATIONS),
        judgements=session.planned(JUDGEMENTS),
        cost_low=low.cost,
        cost_high=high.cost,
        output_assumed=any(not session.outputs[call.kind] for call in session.calls),
        price_source=known.source if known else "",
        price_date=known.date if known else "",
        unpriced=tuple(name for name, price in prices.items() if price is None),
        unnamed=("--model",) if "" in models else (),
        input_tokens=low.input_tokens,
        max_output_tokens=high.output_tokens,
        warnings=tuple(map(diagnostic_line, work.diagnostics)),
        skills=tuple(
            {"skill": each.skill, "prompts": prompts[each.skill], **each.to_dict()}
            for each in work.tested
            if prompts[each.skill]
        ),
        verdicts=verdicts,
        checks_only=dict(sorted((prompts - judged).items())),
    )


class _PlannedText(str):
    """The text of an answer that does not exist yet: a routing reply without a pick."""

    __slots__ = ()

    def __add__(self, other: str) -> _PlannedText:
        return self


_PLANNED = _PlannedText('{"skills": []}')
_NOT_JUDGED = Judgement("", error="only planned")


class _Estimate(NamedTuple):
    """The expected size of some calls."""

    input_tokens: int
    output_tokens: int
    cost: float | None
    """US dollars; None where a price is not known."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of the run, to make or in the cache."""

    kind: str
    request: ModelRequest
    unknown: int = 0
    """Number of answers in its prompt that do not exist yet."""


class PlanSession(ModelSession):
    """A session that sends nothing: it counts the answers in the cache, and the missing ones.

    Its model gives only the parameters that it would send.
    """

    def __init__(self, model: ChatModel, entries: Entries, **options: Any) -> None:
        super().__init__(model, entries, now=str, **options)
        self.calls: list[_Call] = []
        self.cached_calls: list[_Call] = []
        """The calls whose entries are in the cache."""
        self.outputs: dict[str, list[int]] = {GENERATIONS: [], JUDGEMENTS: []}
        """Output tokens of the cached entries, by kind."""
        self._answers: dict[str, ModelAnswer] = {}

    def planned(self, kind: str) -> dict[str, int]:
        """Return the number of entries of a kind: planned, cached and missing."""
        to_make = sum(call.kind == kind for call in self.calls)
        cached = sum(call.kind == kind for call in self.cached_calls)
        return {"planned": cached + to_make, "kept": cached, "to_make": to_make}

    def generate(self, folder: str, request: ModelRequest, run: int) -> ModelAnswer:
        """Return the cached answer, or a planned one. Those that share it count it once."""
        path = self.entries.path(GENERATIONS, folder, generation_key(self.model, request, run))
        if path not in self._answers:
            entry = None if self.fresh_generations else self.entries.read(path)
            if entry is None or generation_fault(entry):
                self._answers[path] = ModelAnswer(path, _PLANNED)
                self.calls.append(_Call(GENERATIONS, request))
            else:
                self._answers[path] = answer_of(path, entry)
                self._count_cached(_Call(GENERATIONS, request), entry)
        return self._answers[path]

    def check(
        self, checks: Sequence[Check], answer: str, files: Sequence[InputFile]
    ) -> tuple[CheckOutcome, ...]:
        """Return nothing: a plan checks no answers."""
        return ()

    def judge(self, folder: str, question: JudgeQuestion) -> Judgement:
        """Count a judgement. Its verdict is not read."""
        unknown = sum(isinstance(text, _PlannedText) for text in question.slots)
        first, second = ("" if isinstance(text, _PlannedText) else text for text in question.slots)
        prompt = judge_prompt(question.user_prompt, first, second, question.criteria)
        request = ModelRequest(question.judge_model, prompt.system, prompt.user, self.judge_tokens)
        call = _Call(JUDGEMENTS, request, unknown)
        if not unknown and not self.fresh_judgements:
            key = judgement_key(self.model, question)
            entry = self.entries.read(self.entries.path(JUDGEMENTS, folder, key))
            if entry is not None and self._is_usable(entry, question.criteria):
                self._count_cached(call, entry)
                return _NOT_JUDGED
        self.calls.append(call)
        return _NOT_JUDGED

    def _is_usable(self, entry: Mapping[str, Any], criteria: Sequence[Criterion]) -> bool:
        if is_failed_judgement(entry, JUDGEMENTS) and not self.keep_failures:
            return False
        return not judgement_fault(criteria, entry)

    def _count_cached(self, call: _Call, entry: Mapping[str, Any]) -> None:
        self.cached_calls.append(call)
        usage = entry.get("usage")
        tokens = count_of(usage.get("output_tokens")) if isinstance(usage, dict) else None
        if tokens is not None:
            self.outputs[call.kind].append(tokens)

    def estimate(self, calls: Sequence[_Call], *, low: bool = False) -> _Estimate:
        """Return the tokens and the cost of calls.

        Outputs are as long as the median of those that are kept (``low``), or as they may be.
        """
        typical = {
            kind: median_high(outputs) if outputs else UNSEEN_TOKENS
            for kind, outputs in self.outputs.items()
        }
        longest = max(
            (call.request.max_tokens for call in calls if call.kind == GENERATIONS), default=0
        )
        answer = longest or typical[GENERATIONS]
        if low:
            answer = min(typical[GENERATIONS], answer)
        inputs, outputs, costs = 0, 0, []
        for call in calls:
            request, most = call.request, call.request.max_tokens
            size = estimate_tokens(request.system + request.user)
            size += call.unknown * answer
            returned = min(most, typical[call.kind]) if low else most
            price = self.price_of(request.model)
            costs.append(None if price is None else estimate(price, size, returned))
            inputs, outputs = inputs + size, outputs + returned
        known = [cost for cost in costs if cost is not None]
        total = round(sum(known), 6) if len(known) == len(costs) else None
        return _Estimate(inputs, outputs, total)
