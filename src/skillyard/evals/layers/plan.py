"""The calls and costs of a run, computed without sending a request (evals.md §1.17)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from statistics import median_high
from typing import Any

from skillyard.base.text import plural
from skillyard.evals.arms import estimate_tokens
from skillyard.evals.judgement.judge import JudgeQuestion, judge_prompt
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.layers.session import Judgement, ModelAnswer, ModelSession
from skillyard.evals.layers.work import LayerWork, diagnostic_line, load_layer
from skillyard.evals.models.calls import ModelRequest
from skillyard.evals.statistics.intervals import PlannedVerdict, planned_verdicts
from skillyard.evals.storage import GENERATIONS, JUDGEMENTS, Entry

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
    price_source: str
    price_date: str
    unpriced: tuple[str, ...]
    """Models whose price is not known; one that is not named yet is empty."""
    warnings: tuple[str, ...]
    """Cases that could not be read and are left out, and other faults of the case files."""
    skills: tuple[dict[str, Any], ...]
    """For L5 and L6: sizes, tier and siblings of each skill under test."""
    verdicts: tuple[PlannedVerdict, ...]
    """For L5 and L6: what the prompts that are judged can show of each skill that has any."""
    checks_only: Mapping[str, int]
    """For L5 and L6: the prompts of each skill that have checks alone, and so no judge."""

    @property
    def pays(self) -> bool:
        """True if a request has to be sent."""
        return bool(self.generations["to_make"] + self.judgements["to_make"])

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Sentences on what the prompts of a skill can show, each with the skill."""
        unjudged = "with checks alone: a pass rate, and no verdict of a judge"
        return [
            *((each.skill, each.message) for each in self.verdicts),
            *((name, f"{plural(n, 'prompt')} {unjudged}") for name, n in self.checks_only.items()),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.eval-plan/1``."""
        return {"schema": "skillyard.eval-plan/1", **asdict(self)}


def plan(work: LayerWork, session: PlanSession) -> Plan:
    """Return the plan of a run.

    The cases are worked through with a session that looks into the cache and sends nothing.
    Judgements of answers that do not exist yet count as calls. A run makes fewer calls where two
    answers turn out to be equal.
    """
    settings = work.settings
    layer = LAYERS[settings.eval_type]
    runner = load_layer(layer.name).runner(work, session)
    if settings.asks_models:
        for run in range(settings.runs):
            for case in work.cases:
                list(runner.results(case, run))
    models = sorted({request.model for _, request, _ in session.to_make})
    prices = {name: session.prices.get(name) for name in models}
    known = next((price for price in prices.values() if price is not None), None)
    prompts = Counter(unit.skill for unit in work.cases if work.tested)
    judged = Counter(unit.skill for unit in work.cases if work.tested and unit.case.criteria)
    return Plan(
        eval_type=settings.eval_type,
        cases=settings.runs * sum(len(runner.blank(case, 0)) for case in work.cases),
        generations=session.planned(GENERATIONS),
        judgements=session.planned(JUDGEMENTS),
        cost_low=session.cost(low=True),
        cost_high=session.cost(),
        price_source=known.source if known else "",
        price_date=known.date if known else "",
        unpriced=tuple(name for name, price in prices.items() if price is None),
        warnings=tuple(map(diagnostic_line, work.diagnostics)),
        skills=tuple(
            {"skill": each.skill, "prompts": prompts[each.skill], **each.to_dict()}
            for each in work.tested
            if prompts[each.skill]
        ),
        verdicts=planned_verdicts(judged, looks=work.looks) if layer.decides else (),
        checks_only=dict(sorted((prompts - judged).items())),
    )


class _PlannedText(str):
    """The text of an answer that does not exist yet: a routing reply without a pick."""

    __slots__ = ()

    def __add__(self, other: str) -> _PlannedText:
        return self


_PLANNED = _PlannedText('{"skills": []}')


class PlanSession(ModelSession):
    """A session that sends nothing: it counts the answers in the cache, and the missing ones.

    Its model gives only the parameters that it would send.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.to_make: list[tuple[str, ModelRequest, int]] = []
        """Each call by its kind, with the number of answers in its prompt that do not exist yet."""
        self.outputs: dict[str, list[int]] = {GENERATIONS: [], JUDGEMENTS: []}
        """Output tokens of the cached entries, by kind."""
        self._cached: Counter[str] = Counter()
        self._answers: dict[str, ModelAnswer] = {}

    def planned(self, kind: str) -> dict[str, int]:
        """Return the number of entries of a kind: planned, cached and missing."""
        count, cached = sum(each == kind for each, _, _ in self.to_make), self._cached[kind]
        return {"planned": cached + count, "kept": cached, "to_make": count}

    def generate(self, folder: str, request: ModelRequest, run: int) -> ModelAnswer:
        """Return the cached answer, or a planned one. Those that share it count it once."""
        path = self.generation_path(folder, request, run)
        if path not in self._answers:
            entry = self.cached(path)
            self._plan(GENERATIONS, request, 0, entry)
            self._answers[path] = ModelAnswer(path, _PLANNED)
            if entry is not None:
                self._answers[path] = self.answer(path, entry)
        return self._answers[path]

    def judge(self, folder: str, question: JudgeQuestion) -> Judgement:
        """Count a judgement. Its verdict is not read."""
        unknown = sum(isinstance(text, _PlannedText) for text in question.slots)
        first, second = ("" if isinstance(text, _PlannedText) else text for text in question.slots)
        prompt = judge_prompt(question.user_prompt, first, second, question.criteria)
        tokens = self.settings.judge_tokens
        request = ModelRequest(question.judge_model, prompt.system, prompt.user, tokens)
        path = self.judgement_path(folder, question)
        entry = None if unknown else self.cached(path, question.criteria)
        self._plan(JUDGEMENTS, request, unknown, entry)
        return Judgement(path, error="only planned")

    def _plan(self, kind: str, request: ModelRequest, unknown: int, entry: Entry | None) -> None:
        if entry is None:
            self.to_make.append((kind, request, unknown))
            return
        self._cached[kind] += 1
        tokens = entry["usage"]["output_tokens"]
        if tokens is not None:
            self.outputs[kind].append(tokens)

    def cost(self, *, low: bool = False) -> float | None:
        """Return what the missing calls cost, in US dollars; None where a price is not known.

        Outputs are as long as the median of those that are kept (``low``), or as they may be.
        """
        typical = {
            kind: median_high(outputs) if outputs else UNSEEN_TOKENS
            for kind, outputs in self.outputs.items()
        }
        longest = self.settings.max_tokens
        answer = min(typical[GENERATIONS], longest) if low else longest
        costs = []
        for kind, request, unknown in self.to_make:
            price = self.prices.get(request.model)
            if price is None:
                return None
            size = estimate_tokens(request.system + request.user) + unknown * answer
            most = request.max_tokens
            costs.append(price.cost(size, min(most, typical[kind]) if low else most))
        return round(sum(costs), 6)
