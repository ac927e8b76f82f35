"""The model calls of one run: looked up in the cache first, and asked or only planned."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from statistics import median_high
from typing import Any

from skillyard.evals.arms import estimate_tokens
from skillyard.evals.judgement.judge import JudgeQuestion, invoke_judge, judge_prompt
from skillyard.evals.judgement.verdicts import BadVerdict, Criterion, verdict
from skillyard.evals.models.calls import (
    Budget,
    Calls,
    ChatModel,
    ModelFailed,
    ModelRequest,
    Price,
    cost_of,
)
from skillyard.evals.settings import EvalOptions, RunSettings
from skillyard.evals.storage import (
    GENERATIONS,
    JUDGEMENTS,
    Entries,
    Entry,
    digest_of,
    text_digest,
)

UNSEEN_TOKENS = 800
"""Assumed output tokens of a call if the cache has no call of its kind."""
TRUNCATED = "max_tokens"
"""The stop reason of an answer that reached the limit of output tokens."""
_KEY_VERSION = 1
"""Part of every key: raised when the meaning of an entry changes."""
_MISSING = {"kind": "missing", "message": "not kept, and the network is forbidden"}


def _no_answer(why: str) -> dict[str, str]:
    return {"kind": "generation_error", "message": why}


def moment() -> str:
    """Return the time now: ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


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
    fault: dict[str, str] | None = None
    """Why there is no usable text, as results have it: ``kind`` and ``message``. The kind is
    ``missing`` for an answer that is not in the cache of an offline run."""

    @property
    def truncated(self) -> bool:
        """True if the model reached the limit of output tokens."""
        return self.stop_reason == TRUNCATED

    @property
    def is_usable(self) -> bool:
        """True for a whole answer."""
        return self.fault is None and not self.truncated


@dataclass(frozen=True, slots=True)
class Judgement:
    """One judgement of two answers in one order, new or from the cache."""

    path: str
    parsed: Mapping[str, Any] | None = None
    attempts: int = 0
    cost: float = 0.0
    fault: dict[str, str] | None = None
    """Why there is no verdict, as that of a :class:`ModelAnswer`, with the ``raw`` reply."""


@dataclass(eq=False)
class ModelSession:
    """Answers and judgements of one run. Safe for many threads."""

    model: ChatModel
    """It handles retries, counts and budgets."""
    entries: Entries
    settings: RunSettings
    options: EvalOptions = field(default_factory=EvalOptions)
    """Which answers of earlier runs are used. A replay never calls the model."""
    prices: Mapping[str, Price | None] = field(default_factory=dict)
    """By model; empty for a session that pays nothing."""

    def __post_init__(self) -> None:
        self.runs_scripts = self.options.allow_scripts
        self.cache_hits = 0
        self.cost_of_cached = 0.0
        """US dollars that the cached answers cost when they were generated."""
        self.fake = False
        """True if a stand-in gave at least one of the answers."""
        self.live = False
        """True if at least one answer was generated in this run."""
        self.missing: list[str] = []
        """Entries that a replay would have needed."""
        self._written: set[str] = set()
        self._guard = threading.Lock()

    @property
    def budget(self) -> Budget:
        """The budget of the calls; an empty one for a session that makes none."""
        return self.model.budget if isinstance(self.model, Calls) else Budget()

    def generate(self, folder: str, request: ModelRequest, run: int) -> ModelAnswer:
        """Return the answer to a request. ``folder`` is the skill's name or a shared folder.

        For a refusal, an empty answer or a failed call the result has a ``fault``. Raises
        RunStopped, and SkillIoError when the answer cannot be stored.
        """
        path = self.generation_path(folder, request, run)
        try:
            entry, cost = self._stored_or_new(path, None, lambda: self._ask(request, run))
        except ModelFailed as failure:
            return ModelAnswer(path, fault=_no_answer(f"{failure.kind}: {failure}"))
        if entry is None:
            return ModelAnswer(path, fault=_MISSING)
        return self.answer(path, entry, cost)

    def answer(self, path: str, entry: Entry, cost: float = 0.0) -> ModelAnswer:
        """Return the answer of an entry; ``cost`` is what this run paid for it."""
        text, stop = entry["text"], entry["stop_reason"]
        fault = None if text.strip() else _no_answer("the model gave no text")
        if stop == "refusal":
            fault = _no_answer("the model refused")
        return ModelAnswer(path, text, stop, cost, entry["usage"]["input_tokens"], fault)

    def judge(self, folder: str, question: JudgeQuestion) -> Judgement:
        """Return the judgement of two answers. Raises as :meth:`generate` does."""
        path = self.judgement_path(folder, question)
        entry, cost = self._stored_or_new(
            path, question.criteria, lambda: self._ask_judge(question)
        )
        if entry is None:
            return Judgement(path, fault=_MISSING)
        parsed, raw, fault = entry["parsed"], entry["raw_judge_text"], None
        if parsed is None:
            fault = {"kind": "judge_error", "message": entry.get("judge_error") or "no verdict"}
            fault |= {"raw": raw} if raw else {}
        return Judgement(path, parsed, entry.get("attempts", 0), cost, fault)

    def generation_path(self, folder: str, request: ModelRequest, run: int) -> str:
        """Return the path of an answer's entry (evals.md §1.11).

        Its key has the two texts, every parameter that is sent, and the run: run 0 and run 1 of one
        prompt are two answers. It does not have the skill, so all skills with the same prompt share
        the answer without a skill.
        """
        texts = {"model": request.model, "system": request.system, "user": request.user}
        parameters = {"sent": self.model.parameters(request), "run": run}
        return self._path(GENERATIONS, "generation", folder, texts | parameters)

    def judgement_path(self, folder: str, question: JudgeQuestion) -> str:
        """Return the path of a judgement's entry."""
        fields = {
            "judge_model": question.judge_model,
            "prompt_version": question.prompt_version,
            "user_prompt": text_digest(question.user_prompt),
            "criteria": [[each.name, each.weight, each.description] for each in question.criteria],
            "slots": [text_digest(each) for each in question.slots],
            "run": question.run,
        }
        return self._path(JUDGEMENTS, "judgement", folder, fields)

    def _path(self, group: str, kind: str, folder: str, fields: Mapping[str, Any]) -> str:
        """Return the path whose key has the fields, the kind, the provider and the server."""
        server = {"provider": self.model.provider, "host": self.model.host}
        key = digest_of({"schema": _KEY_VERSION, "kind": kind, **server, **fields})
        return self.entries.path(group, folder, key)

    def _stored_or_new(
        self,
        path: str,
        criteria: Sequence[Criterion] | None,
        ask: Callable[[], dict[str, Any]],
    ) -> tuple[Entry | None, float]:
        """Return an entry, and what this run paid for it; None for a missing one of a replay.

        One of all threads and processes asks.
        """
        entry = self.cached(path, criteria)
        if entry is not None or self.options.replay:
            if entry is None:
                self.missing.append(path)
            return entry, 0.0
        with self.entries.lock(path):
            entry = self.cached(path, criteria)
            if entry is not None:
                return entry, 0.0
            reply = ask()
            new: Any = {
                "schema": f"skillyard.{'generation' if criteria is None else 'judgement'}/1",
                "key": path.rpartition("/")[2].removesuffix(".json"),
                "provider": self.model.provider,
                "host": self.model.host,
                "timestamp": moment(),
                **reply,
            }
            with self._guard:
                self.live = True
                self.fake |= new["fake"]
            # Where a call of several failed, it is worth asking again.
            if reply.get("calls") == reply.get("attempts"):
                self.entries.write(path, new)
                self._written.add(path)
            return new, new["cost"]

    def cached(self, path: str, criteria: Sequence[Criterion] | None = None) -> Entry | None:
        """Return a usable cached entry and count it. Unusable entries are reported.

        A judgement is checked by its ``criteria`` again: the file may have been changed.
        """
        options, ours = self.options, path in self._written
        fresh = options.regenerate or (criteria is not None and options.rejudge)
        if fresh and not ours and not options.replay:
            return None
        entry = self.entries.read(path)
        if entry is None:
            return None
        if criteria is not None and entry["parsed"] is None:
            if options.resume is None and not options.replay and not ours:
                return None
        elif criteria is not None:
            try:
                entry["parsed"] = verdict(entry["parsed"], criteria)
            except BadVerdict as bad:
                self.entries.refuse(path, f"its verdict is not valid: {bad}")
                return None
        with self._guard:
            self.cache_hits += 1
            self.cost_of_cached += 0.0 if ours else entry["cost"]
            self.fake |= entry["fake"]
        return entry

    def _ask(self, request: ModelRequest, run: int) -> dict[str, Any]:
        limit_s = self.settings.timeout_s or request.time_limit_s
        reply = self.model.complete(request, limit_s)
        return {
            "model": request.model,
            "run": run,
            "text": reply.text,
            "stop_reason": reply.stop_reason,
            "usage": asdict(reply.usage),
            "sent": dict(reply.parameters),
            "cost": cost_of(self.prices.get(request.model), reply.usage),
            "latency_s": round(reply.latency_s, 3),
            "sdk": reply.sdk,
            "fake": reply.fake,
        }

    def _ask_judge(self, question: JudgeQuestion) -> dict[str, Any]:
        settings, model = self.settings, question.judge_model
        return {"model": model} | invoke_judge(
            self.model,
            question.user_prompt,
            *question.slots,
            question.criteria,
            model,
            temperature=settings.temperature,
            max_retries=settings.judge_retries,
            max_tokens=settings.judge_tokens,
            timeout_s=settings.timeout_s,
            price=self.prices.get(model),
        )


_PLANNED = '{"skills": [], "reasoning": "this answer does not exist yet"}'
"""How the text of a planned answer begins: a routing reply without a pick."""


class PlanSession(ModelSession):
    """A session that sends nothing: it counts the answers in the cache, and the missing ones.

    Its model gives only the parameters that it would send.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.runs_scripts = False
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
        first, second = ("" if text.startswith(_PLANNED) else text for text in question.slots)
        unknown = [first, second].count("")
        prompt = judge_prompt(question.user_prompt, first, second, question.criteria)
        tokens = self.settings.judge_tokens
        request = ModelRequest(question.judge_model, prompt.system, prompt.user, tokens)
        path = self.judgement_path(folder, question)
        entry = None if unknown else self.cached(path, question.criteria)
        self._plan(JUDGEMENTS, request, unknown, entry)
        return Judgement(path, fault={"kind": "missing", "message": "only planned"})

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
