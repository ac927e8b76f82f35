"""The model calls of one run. Answers are looked up in the cache first, and stored after a call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any

from skillyard.evals.cases.input_files import InputFile
from skillyard.evals.checks.outcome import Check, CheckOutcome, run_checks
from skillyard.evals.criteria import Criterion
from skillyard.evals.judgement.prompt import JudgeQuestion
from skillyard.evals.judgement.verdicts import BadVerdict, verdict
from skillyard.evals.models.prices import PriceOf, cost_of
from skillyard.evals.models.protocol import ChatModel, ModelFailed, ModelReply, ModelRequest
from skillyard.evals.storage.entries import (
    GENERATION_SCHEMA,
    GENERATIONS,
    JUDGEMENT_SCHEMA,
    JUDGEMENTS,
    Entries,
    count_of,
    is_amount,
)
from skillyard.evals.storage.keys import generation_key, judgement_key

_SDK_CHARS = 100
TRUNCATED = "max_tokens"
"""The stop reason of an answer that reached the limit of output tokens."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """One generation, new or from the cache."""

    path: str
    """The path of its entry, below the results folder."""
    text: str = ""
    stop_reason: str = ""
    cost: float = 0.0
    """US dollars paid in this run; 0 for a cached answer."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    error: str = ""
    """The reason why there is no usable text, or empty."""
    missing: bool = False
    """The entry is not in the cache and the run is offline."""

    @property
    def truncated(self) -> bool:
        """True if the model reached the limit of output tokens."""
        return self.stop_reason == TRUNCATED


@dataclass(frozen=True, slots=True)
class Judgement:
    """One judgement of two answers in one order, new or from the cache."""

    path: str
    parsed: Mapping[str, Any] | None = None
    raw: str = ""
    attempts: int = 0
    cost: float = 0.0
    error: str = ""
    missing: bool = False


@dataclass(slots=True)
class SessionCounts:
    """Counts of a run, besides the calls and costs that the model counts."""

    cache_hits: int = 0
    cost_of_cached: float = 0.0
    """US dollars that the cached answers cost when they were generated."""
    costs: dict[str, float] = field(default_factory=dict)
    """US dollars that each entry cost when it was created, by path."""
    fake: bool = False
    """True if a stand-in gave at least one of the answers."""
    live: bool = False
    """True if at least one answer was generated in this run."""
    unpriced: bool = False
    """True if a model without a known price was used."""
    missing: list[str] = field(default_factory=list)
    sdks: set[str] = field(default_factory=set)
    judge_versions: set[str] = field(default_factory=set)


@dataclass(eq=False)
class ModelSession:
    """Answers and judgements of one run. Safe for many threads."""

    model: ChatModel
    """It handles retries, counts and budgets."""
    entries: Entries
    _: KW_ONLY
    now: Callable[[], str]
    price_of: PriceOf
    case: Callable[[], ChatModel] | None = None
    """Returns a view of the model for the calls of one entry, which share a time limit."""
    timeout_s: float | None = None
    """Of one attempt; None: by the tokens of its answer."""
    judge_retries: int = 2
    judge_tokens: int = 4_096
    temperature: float = 0.0
    offline: bool = False
    """Never call the model: entries that are not in the cache are missing."""
    fresh_generations: bool = False
    """Ignore the answers of earlier runs, but not those of this run."""
    fresh_judgements: bool = False
    keep_failures: bool = False
    """Use cached judgements without a verdict; an offline session always does."""
    allow_scripts: bool = False
    """Let checks run scripts."""

    def __post_init__(self) -> None:
        self.counts = SessionCounts()
        self._written: set[str] = set()
        self._guard = threading.Lock()

    def ignores(self, kind: str) -> bool:
        """True if entries of earlier runs are not used."""
        return self.fresh_generations if kind == GENERATIONS else self.fresh_judgements

    def check(
        self, checks: Sequence[Check], answer: str, files: Sequence[InputFile]
    ) -> tuple[CheckOutcome, ...]:
        """Return the outcome of each check of an answer."""
        return run_checks(checks, answer, files, allow_scripts=self.allow_scripts)

    def generate(self, folder: str, request: ModelRequest, run: int) -> ModelAnswer:
        """Return the answer to a request. ``folder`` is the skill's name or a shared folder.

        For a refusal, an empty answer or a failed call the result has an ``error``. Raises
        RunStopped, and SkillIoError when the answer cannot be stored.
        """
        key = generation_key(self.model, request, run)
        path = self.entries.path(GENERATIONS, folder, key)
        with self._lookup(path, GENERATIONS, generation_fault) as entry:
            if entry is not None:
                return answer_of(path, entry)
            if self.offline:
                return ModelAnswer(path, error=self._record_missing(path), missing=True)
            try:
                limit_s = self.timeout_s or request.time_limit_s
                reply = self._model_for().complete(request, limit_s)
            except ModelFailed as failure:
                return ModelAnswer(path, error=f"{failure.kind}: {failure}")
            price = self.price_of(request.model)
            cost = cost_of(price, reply.usage)
            self._count_replies(1, reply.fake, reply.sdk, price is None)
            self._write(path, self._generation(key, request, run, reply, cost))
            return answer_of(path, self.entries.read(path) or {}, cost)

    def judge(self, folder: str, question: JudgeQuestion) -> Judgement:
        """Return the judgement of two answers. Raises as :meth:`generate` does."""
        from skillyard.evals.judgement.judge import invoke_judge

        key, judge_model = judgement_key(self.model, question), question.judge_model
        path = self.entries.path(JUDGEMENTS, folder, key)
        with self._guard:
            self.counts.judge_versions.add(question.prompt_version)
        with self._lookup(path, JUDGEMENTS, partial(judgement_fault, question.criteria)) as entry:
            if entry is not None:
                return _judgement_of(path, entry)
            if self.offline:
                return Judgement(path, error=self._record_missing(path), missing=True)
            price = self.price_of(judge_model)
            outcome = invoke_judge(
                self._model_for(),
                question.user_prompt,
                *question.slots,
                question.criteria,
                judge_model,
                temperature=self.temperature,
                max_retries=self.judge_retries,
                max_tokens=self.judge_tokens,
                timeout_s=self.timeout_s,
                price=price,
            )
            self._count_replies(outcome["calls"], outcome["fake"], outcome["sdk"], price is None)
            if outcome["calls"] == outcome["attempts"]:  # else a call failed: worth asking again
                self._write(path, self._judgement(key, judge_model, outcome))
            return _judgement_of(path, outcome, outcome["cost"])

    def _model_for(self) -> ChatModel:
        return self.model if self.case is None else self.case()

    @contextmanager
    def _lookup(
        self, path: str, kind: str, fault: Callable[[Mapping[str, Any]], str]
    ) -> Iterator[dict[str, Any] | None]:
        """Yield the cached entry, or None while this thread alone may create it."""
        entry = self._cached(path, kind, fault)
        if entry is not None or self.offline:
            yield entry
            return
        with self.entries.lock(path):
            yield self._cached(path, kind, fault)

    def _cached(
        self, path: str, kind: str, fault: Callable[[Mapping[str, Any]], str]
    ) -> dict[str, Any] | None:
        """Return a usable cached entry and count it. Unusable entries are reported."""
        with self._guard:
            ours = path in self._written
        if self.ignores(kind) and not ours and not self.offline:
            return None
        entry = self.entries.read(path)
        if entry is None or (
            is_failed_judgement(entry, kind) and not (self.keep_failures or self.offline or ours)
        ):
            return None
        why = fault(entry)
        if why:
            self.entries.refuse(path, why)
            return None
        with self._guard:
            self.counts.cache_hits += 1
            self.counts.costs[path] = _amount(entry.get("cost"))
            if not ours:
                self.counts.cost_of_cached += self.counts.costs[path]
            self.counts.fake |= entry.get("fake") is True
            sdk = entry.get("sdk")
            if isinstance(sdk, str) and 0 < len(sdk) <= _SDK_CHARS:
                self.counts.sdks.add(sdk)
        return entry

    def _record_missing(self, path: str) -> str:
        with self._guard:
            self.counts.missing.append(path)
        return "not kept, and the network is forbidden"

    def _count_replies(self, replies: int, fake: bool, sdk: str, unpriced: bool) -> None:
        with self._guard:
            self.counts.live |= replies > 0
            self.counts.fake |= fake
            self.counts.unpriced |= unpriced
            if sdk:
                self.counts.sdks.add(sdk)

    def _write(self, path: str, entry: dict[str, Any]) -> None:
        self.entries.write(path, entry)
        with self._guard:
            self._written.add(path)
            self.counts.costs[path] = _amount(entry.get("cost"))

    def _generation(
        self, key: str, request: ModelRequest, run: int, reply: ModelReply, cost: float
    ) -> dict[str, Any]:
        return {
            "schema": GENERATION_SCHEMA,
            "key": key,
            "provider": self.model.provider,
            "host": self.model.host,
            "model": request.model,
            "run": run,
            "text": reply.text,
            "stop_reason": reply.stop_reason,
            "usage": _usage(reply),
            "sent": dict(reply.sent),
            "cost": cost,
            "latency_s": round(reply.latency_s, 3),
            "sdk": reply.sdk,
            "fake": reply.fake,
            "timestamp": self.now(),
        }

    def _judgement(self, key: str, model: str, outcome: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "schema": JUDGEMENT_SCHEMA,
            "key": key,
            "provider": self.model.provider,
            "host": self.model.host,
            "model": model,
            **outcome,
            "latency_s": round(outcome["latency_s"], 3),
            "timestamp": self.now(),
        }


def is_failed_judgement(entry: Mapping[str, Any], kind: str) -> bool:
    """True for a cached judgement without a verdict. Another run may repeat it."""
    has_error = isinstance(entry.get("judge_error"), str)
    return kind == JUDGEMENTS and entry.get("parsed") is None and has_error


def generation_fault(entry: Mapping[str, Any]) -> str:
    """Return why a cached generation cannot be used; empty where it can."""
    return "" if isinstance(entry.get("text"), str) else "it holds no text"


def judgement_fault(criteria: Sequence[Criterion], entry: Mapping[str, Any]) -> str:
    """Return why a cached judgement by these criteria cannot be used; empty where it can.

    The file may have been changed since the reply was checked, so it is checked again.
    """
    if is_failed_judgement(entry, JUDGEMENTS):
        return ""
    try:
        verdict(entry.get("parsed"), criteria)
    except BadVerdict as bad:
        return f"its verdict is not valid: {bad}"
    return ""


def answer_of(path: str, entry: Mapping[str, Any], cost: float = 0.0) -> ModelAnswer:
    """Return the answer of an entry; ``cost`` is what this run paid for it."""
    text = str(entry.get("text") or "")
    stop = str(entry.get("stop_reason") or "")
    usage = entry.get("usage")
    usage_fields = usage if isinstance(usage, dict) else {}
    return ModelAnswer(
        path,
        text,
        stop,
        cost,
        count_of(usage_fields.get("input_tokens")),
        count_of(usage_fields.get("output_tokens")),
        unusable_reason(text, stop),
    )


def unusable_reason(text: str, stop_reason: str) -> str:
    """Return why an answer has no usable text; empty where it has."""
    if stop_reason == "refusal":
        return "the model refused"
    return "" if text.strip() else "the model gave no text"


def _judgement_of(path: str, entry: Mapping[str, Any], cost: float = 0.0) -> Judgement:
    parsed = entry.get("parsed")
    attempts = count_of(entry.get("attempts")) or 0
    return Judgement(
        path,
        parsed if isinstance(parsed, dict) else None,
        str(entry.get("raw_judge_text") or ""),
        attempts,
        cost,
        "" if isinstance(parsed, dict) else str(entry.get("judge_error") or "no verdict"),
    )


def _usage(reply: ModelReply) -> dict[str, int | None]:
    counted = reply.usage
    return {"input_tokens": counted.input_tokens, "output_tokens": counted.output_tokens}


def _amount(value: Any) -> float:
    return float(value) if is_amount(value) else 0.0
