"""One comparison by a judge, retried until a reply is valid or the attempts are used up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import InvalidInput
from skillyard.evals.criteria import Criterion
from skillyard.evals.judgement.prompt import PROMPT_VERSION, judge_prompt
from skillyard.evals.judgement.verdicts import (
    BadVerdict,
    JudgeVerdict,
    extract_json,
    read_criteria,
    verdict,
)
from skillyard.evals.models.prices import Price, cost_of
from skillyard.evals.models.protocol import ModelFailed, ModelReply, ModelRequest
from skillyard.evals.models.sdk import as_model

MAX_TOKENS = 16_000
"""Current models count what they think against it (spec/evals.md §1.8)."""


@check_arguments
def invoke_judge(
    client: Any,
    user_prompt: str,
    response_a: str,
    response_b: str,
    criteria: Iterable[Criterion | Mapping[str, Any]],
    judge_model: str,
    temperature: float | None = 0.0,
    max_retries: int = 2,
    *,
    max_tokens: int = MAX_TOKENS,
    timeout_s: float | None = None,
    price: Price | None = None,
) -> dict[str, Any]:
    """Ask a judge which of two responses to a request is better, by a rubric.

    ``client`` is a ``ChatModel`` or a client of the ``anthropic`` or ``openai`` library. After a
    reply that is refused, truncated or invalid the request is repeated with a stricter instruction,
    at most ``max_retries`` times. If a server refuses the reply's schema, the request is repeated
    without it. ``timeout_s`` limits one attempt; without it the limit grows with ``max_tokens``.
    Transport errors are not retried here: :class:`skillyard.evals.models.calls.Calls`
    does that.

    Returns, as plain JSON:

    - ``parsed``: the valid reply (``criteria`` in the rubric's order, ``overall_winner``) or None;
    - ``raw_judge_text``: the text of the last reply, valid or not;
    - ``cost``: US dollars of all attempts by ``price``; 0.0 without one;
    - ``attempts``: 1 to 1 + max_retries; ``calls``: the number of attempts with a reply;
    - ``judge_error``: None, or ``kind: reason`` of the last failure;
    - ``failures``: each failed attempt, with ``attempt``, ``kind``, ``message`` and ``raw``;
    - ``usage``: ``input_tokens`` and ``output_tokens`` of all attempts, None if not reported;
    - ``stop_reason`` of the last reply (empty without one), ``latency_s`` of all attempts;
    - ``prompt_version``, ``sent`` (parameters of the last call), ``sdk``, and ``fake`` (true when
      a stand-in answered).

    Raises InvalidInput for an invalid rubric or client and for a negative ``max_retries``. Errors
    that end a run pass through: ``RunStopped``, and ModelFailed with ``permanent``.
    """
    if max_retries < 0:
        raise InvalidInput(f"max_retries must be 0 or more, not {max_retries}")
    rubric = read_criteria(criteria)
    model = as_model(client)
    record = _Record(price)
    with_schema = True
    while record.attempts <= max_retries and record.verdict is None:
        prompt = judge_prompt(user_prompt, response_a, response_b, rubric, record.unusable)
        request = ModelRequest(
            judge_model,
            prompt.system,
            prompt.user,
            max_tokens=max_tokens,
            temperature=temperature,
            schema=prompt.schema if with_schema else None,
        )
        record.attempts += 1
        try:
            limit_s = request.time_limit_s if timeout_s is None else timeout_s
            record.add_reply(model.complete(request, limit_s), rubric)
        except ModelFailed as error:
            if error.permanent:
                raise
            record.add_failure(error.kind, str(error), "")
            if error.kind != "bad_request" or not with_schema:
                break
            with_schema = False  # the one part of the request that not every server knows
    return record.to_dict()


@dataclass(slots=True)
class _Record:
    """The results of the attempts so far."""

    price: Price | None
    attempts: int = 0
    verdict: JudgeVerdict | None = None
    replies: list[ModelReply] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)
    unusable: list[str] = field(default_factory=list)
    """Kinds of the replies that came and could not be used."""

    def add_reply(self, reply: ModelReply, criteria: tuple[Criterion, ...]) -> None:
        """Keep a reply: as the verdict where it is one, else as a failure."""
        self.replies.append(reply)
        try:
            self.verdict = _verdict(reply, criteria)
        except BadVerdict as error:
            self.unusable.append(error.kind)
            self.add_failure(error.kind, str(error), reply.text)

    def add_failure(self, kind: str, message: str, raw: str) -> None:
        """Keep the failure of the current attempt, with what the judge wrote."""
        self.failures.append(
            {"attempt": self.attempts, "kind": kind, "message": message, "raw": raw}
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the documented answer of :func:`invoke_judge`."""
        failed = self.failures[-1] if self.verdict is None else None
        last = self.replies[-1] if self.replies else ModelReply("", "")
        return {
            "parsed": None if self.verdict is None else self.verdict.to_dict(),
            "raw_judge_text": last.text,
            "cost": sum((cost_of(self.price, reply.usage) for reply in self.replies), 0.0),
            "attempts": self.attempts,
            "judge_error": None if failed is None else f"{failed['kind']}: {failed['message']}",
            "failures": self.failures,
            "calls": len(self.replies),
            "usage": {
                "input_tokens": _sum([reply.usage.input_tokens for reply in self.replies]),
                "output_tokens": _sum([reply.usage.output_tokens for reply in self.replies]),
            },
            "stop_reason": last.stop_reason,
            "latency_s": sum((reply.latency_s for reply in self.replies), 0.0),
            "prompt_version": PROMPT_VERSION,
            "sent": dict(last.sent),
            "sdk": last.sdk,
            "fake": any(reply.fake for reply in self.replies),
        }


def _verdict(reply: ModelReply, criteria: tuple[Criterion, ...]) -> JudgeVerdict:
    if reply.stop_reason == "refusal":
        raise BadVerdict("refusal", "the judge declined to answer")
    if reply.stop_reason == "max_tokens":
        raise BadVerdict("truncated", "the reply was cut off at max_tokens")
    parsed = extract_json(reply.text)
    if parsed is None:
        raise BadVerdict("no_json", "the reply holds no complete JSON object")
    return verdict(parsed, criteria)


def _sum(counts: Iterable[int | None]) -> int | None:
    counted = [count for count in counts if count is not None]
    return sum(counted) if counted else None
