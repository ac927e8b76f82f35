"""One comparison by a judge, retried until a reply is valid or the attempts are used up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import InvalidInput
from skillyard.evals.criteria import Criterion
from skillyard.evals.judgement.prompt import PROMPT_VERSION, judge_prompt
from skillyard.evals.judgement.verdicts import (
    BadVerdict,
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
    replies: list[ModelReply] = []
    failures: list[dict[str, Any]] = []
    unusable: list[str] = []  # kinds of the replies that came and could not be used
    parsed, attempts, with_schema = None, 0, True
    while attempts <= max_retries and parsed is None:
        attempts += 1
        prompt = judge_prompt(user_prompt, response_a, response_b, rubric, unusable)
        request = ModelRequest(
            judge_model,
            prompt.system,
            prompt.user,
            max_tokens=max_tokens,
            temperature=temperature,
            schema=prompt.schema if with_schema else None,
        )
        failure = {"attempt": attempts, "raw": ""}
        try:
            limit_s = request.time_limit_s if timeout_s is None else timeout_s
            replies.append(model.complete(request, limit_s))
            parsed = _verdict(replies[-1], rubric)
        except BadVerdict as error:
            unusable.append(error.kind)
            failure |= {"kind": error.kind, "message": str(error), "raw": replies[-1].text}
            failures.append(failure)
        except ModelFailed as error:
            if error.permanent:
                raise
            failures.append(failure | {"kind": error.kind, "message": str(error)})
            if error.kind != "bad_request" or not with_schema:
                break
            with_schema = False  # the one part of the request that not every server knows
    last = replies[-1] if replies else ModelReply("", "")
    failed = failures[-1] if parsed is None else None
    return {
        "parsed": parsed,
        "raw_judge_text": last.text,
        "cost": sum((cost_of(price, reply.usage) for reply in replies), 0.0),
        "attempts": attempts,
        "judge_error": failed and f"{failed['kind']}: {failed['message']}",
        "failures": failures,
        "calls": len(replies),
        "usage": {
            "input_tokens": _sum([reply.usage.input_tokens for reply in replies]),
            "output_tokens": _sum([reply.usage.output_tokens for reply in replies]),
        },
        "stop_reason": last.stop_reason,
        "latency_s": sum((reply.latency_s for reply in replies), 0.0),
        "prompt_version": PROMPT_VERSION,
        "sent": dict(last.sent),
        "sdk": last.sdk,
        "fake": any(reply.fake for reply in replies),
    }


def _verdict(reply: ModelReply, criteria: tuple[Criterion, ...]) -> dict[str, Any]:
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
