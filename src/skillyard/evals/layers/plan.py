"""The calls and costs of a run, computed without sending a request (evals.md §1.17)."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median_high
from typing import TYPE_CHECKING, Any

from skillyard.evals.conditions.sizes import estimate_tokens
from skillyard.evals.judgement.prompt import PROMPT_VERSION, judge_prompt
from skillyard.evals.layers.datasets import Pairs, Routes
from skillyard.evals.layers.pair_cases import PairUnit, orders_of, rules_of
from skillyard.evals.layers.pairs import folder_of, request_of
from skillyard.evals.layers.router import ROUTING, model_routers
from skillyard.evals.layers.session import (
    TRUNCATED,
    Session,
    generation_fault,
    is_failed_judgement,
    judgement_fault,
    token_count,
    unusable_reason,
)
from skillyard.evals.models.prices import PriceOf, estimate
from skillyard.evals.models.protocol import ChatModel, Request
from skillyard.evals.settings import RunSettings
from skillyard.evals.storage.entries import GENERATIONS, JUDGEMENTS, Entries
from skillyard.evals.storage.keys import generation_key, judgement_key

if TYPE_CHECKING:
    from skillyard.catalog import Catalog

__all__ = ["Plan", "plan"]

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
    skills: tuple[dict[str, Any], ...]
    """For L5 and L6: sizes, tier and siblings of each skill under test."""
    groups: dict[str, list[str]]
    """For L4: the members of each group."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.eval-plan/1``."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {
            "schema": "skillyard.eval-plan/1",
            **fields,
            "unpriced": list(self.unpriced),
            "skills": list(self.skills),
        }


def plan(
    work: Pairs | Routes,
    settings: RunSettings,
    catalog: Catalog,
    model: ChatModel,
    entries: Entries,
    price_of: PriceOf,
    *,
    fresh_generations: bool = False,
    fresh_judgements: bool = False,
    keep_failures: bool = False,
) -> Plan:
    """Return the plan of a run. ``model`` gives only the parameters that it would send.

    Judgements of answers that do not exist yet count as calls. A run makes fewer calls where two
    answers turn out to be equal.
    """
    survey = _CacheSurvey(model, entries, fresh_generations, fresh_judgements, keep_failures)
    if isinstance(work, Pairs):
        cases = _pairs(survey, work, settings)
    else:
        cases = len(work.cases) * settings.runs
        if settings.asks_models:
            session = Session(model, entries, now=str, price_of=price_of, offline=True)
            _routes(survey, work, settings, catalog, session)
    models = sorted({call.request.model for call in survey.calls})
    prices = {name: price_of(name) for name in models}
    unpriced = tuple(name for name, price in prices.items() if price is None)
    sources = [price for price in prices.values() if price is not None]
    return Plan(
        settings.eval_type,
        cases,
        survey.counts(GENERATIONS),
        survey.counts(JUDGEMENTS),
        None if unpriced else _cost(survey, price_of, low=True),
        None if unpriced else _cost(survey, price_of, low=False),
        any(not survey.outputs[call.kind] for call in survey.calls),
        sources[0].source if sources else "",
        sources[0].date if sources else "",
        unpriced,
        _skills(work),
        {} if isinstance(work, Pairs) else {name: list(each) for name, each in work.groups.items()},
    )


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that the run has to make."""

    kind: str
    request: Request
    unknown: int = 0
    """Number of answers in its prompt that do not exist yet."""


@dataclass(frozen=True, slots=True)
class _Text:
    """An answer in the cache."""

    text: str
    fit: bool
    """It can be judged: not refused, not empty, not cut off."""


@dataclass(slots=True)
class _CacheSurvey:
    """The entries that are in the cache, and those that are missing."""

    model: ChatModel
    entries: Entries
    fresh_generations: bool
    fresh_judgements: bool
    keep_failures: bool
    calls: list[_Call] = field(default_factory=list)
    cached: dict[str, int] = field(default_factory=lambda: {GENERATIONS: 0, JUDGEMENTS: 0})
    outputs: dict[str, list[int]] = field(default_factory=lambda: {GENERATIONS: [], JUDGEMENTS: []})
    texts_by_path: dict[str, _Text | None] = field(default_factory=dict)

    def counts(self, kind: str) -> dict[str, int]:
        to_make = sum(call.kind == kind for call in self.calls)
        cached = self.cached[kind]
        return {"planned": cached + to_make, "kept": cached, "to_make": to_make}

    def generation(self, folder: str, request: Request, run: int) -> _Text | None:
        """Count an answer once for all that share it, and return it if it is in the cache."""
        path = self.entries.path(GENERATIONS, folder, generation_key(self.model, request, run))
        if path not in self.texts_by_path:
            entry = None if self.fresh_generations else self.entries.read(path)
            if entry is None or generation_fault(entry):
                self.texts_by_path[path] = None
                self.calls.append(_Call(GENERATIONS, request))
            else:
                text, stop = entry["text"], str(entry.get("stop_reason") or "")
                fit = not unusable_reason(text, stop) and stop != TRUNCATED
                self.texts_by_path[path] = _Text(text, fit)
                self._count_cached(GENERATIONS, entry)
        return self.texts_by_path[path]

    def judgement(
        self, unit: PairUnit, texts: list[_Text | None], judge_model: str, tokens: int, run: int
    ) -> None:
        """Count a judgement of two answers, unless one of them cannot be judged."""
        if not all(each is None or each.fit for each in texts):
            return
        cached_texts = [each.text for each in texts if each is not None]
        if len(cached_texts) == len(texts) and not self.fresh_judgements:
            key = judgement_key(
                self.model,
                judge_model,
                PROMPT_VERSION,
                unit.prompt,
                unit.criteria,
                cached_texts,
                run,
            )
            entry = self.entries.read(self.entries.path(JUDGEMENTS, unit.skill, key))
            if entry is not None and self._usable(unit, entry):
                self._count_cached(JUDGEMENTS, entry)
                return
        slot_texts = [each.text if each is not None else "" for each in texts]
        prompt = judge_prompt(unit.prompt, slot_texts[0], slot_texts[1], unit.criteria)
        request = Request(judge_model, prompt.system, prompt.user, tokens)
        self.calls.append(_Call(JUDGEMENTS, request, len(texts) - len(cached_texts)))

    def _usable(self, unit: PairUnit, entry: dict[str, Any]) -> bool:
        if is_failed_judgement(entry, JUDGEMENTS) and not self.keep_failures:
            return False
        return not judgement_fault(unit.criteria, entry)

    def _count_cached(self, kind: str, entry: dict[str, Any]) -> None:
        self.cached[kind] += 1
        usage = entry.get("usage")
        tokens = token_count(usage.get("output_tokens")) if isinstance(usage, dict) else None
        if tokens is not None:
            self.outputs[kind].append(tokens)


def _pairs(survey: _CacheSurvey, work: Pairs, settings: RunSettings) -> int:
    rules = rules_of(settings)
    cases = 0
    for run in range(rules.runs):
        for unit in work.units:
            texts = {
                condition: survey.generation(
                    folder_of(unit, condition), request_of(unit, condition, rules), run
                )
                for condition in unit.conditions
            }
            for pair in unit.comparisons:
                cases += 1
                for model in rules.judge_models:
                    for order in orders_of(unit, pair, run, rules):
                        slots = [texts[order.slots[slot]] for slot in ("A", "B")]
                        survey.judgement(unit, slots, model, settings.judge_tokens, run)
    return cases


def _routes(
    survey: _CacheSurvey, work: Routes, settings: RunSettings, catalog: Catalog, session: Session
) -> None:
    routers = model_routers(settings, work, catalog, session)
    for run in range(settings.runs):
        for case in work.cases:
            group = getattr(case, "group", "")
            for router in [routers[group]] if group in routers else routers.values():
                survey.generation(ROUTING, router.request(case.user_prompt), run)


def _cost(survey: _CacheSurvey, price_of: PriceOf, *, low: bool) -> float:
    typical = {
        kind: median_high(outputs) if outputs else UNSEEN_TOKENS
        for kind, outputs in survey.outputs.items()
    }
    longest = max(
        (call.request.max_tokens for call in survey.calls if call.kind == GENERATIONS), default=0
    )
    total = 0.0
    most_of_one = longest or typical[GENERATIONS]
    for call in survey.calls:
        answer = min(typical[GENERATIONS], most_of_one) if low else most_of_one
        texts = call.request.system + call.request.user
        inputs = estimate_tokens(texts) + call.unknown * answer
        most = call.request.max_tokens
        total += estimate(
            price_of(call.request.model), inputs, min(most, typical[call.kind]) if low else most
        )
    return round(total, 6)


def _skills(work: Pairs | Routes) -> tuple[dict[str, Any], ...]:
    if isinstance(work, Routes):
        return ()
    prompts_by_skill: dict[str, int] = {}
    for unit in work.units:
        prompts_by_skill[unit.skill] = prompts_by_skill.get(unit.skill, 0) + 1
    return tuple(
        {"skill": each.skill, "prompts": prompts_by_skill[each.skill], **each.to_dict()}
        for each in work.tested
        if each.skill in prompts_by_skill
    )
