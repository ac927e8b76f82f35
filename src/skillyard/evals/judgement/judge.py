"""One comparison by a judge: its prompt, and the call, until a reply is valid or attempts run out.

A model that has read a skill wrote the responses, so both may contain instructions to the judge or
text like the end of a frame. The frame lines contain a word that is derived from the texts and
occurs in none of them (spec/evals.md §1.9).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import InvalidInput
from skillyard.base.text import one_line
from skillyard.evals.judgement.verdicts import (
    HIGHEST,
    LOWEST,
    REASONS,
    WINNERS,
    BadVerdict,
    Criterion,
    extract_json,
    read_criteria,
    verdict,
)
from skillyard.evals.models.calls import ModelFailed, ModelReply, ModelRequest, Price, cost_of
from skillyard.evals.models.sdk import as_model
from skillyard.evals.prompts import PROMPTS

_SYSTEM, _USER, _TEXT = (PROMPTS["judge"][name] for name in ("system", "user", "text"))
_STRICTER = tuple(PROMPTS["judge"]["stricter"])
"""The addition after one invalid reply, and after two or more."""

_SURROGATES = re.compile("[\ud800-\udfff]")
_WORD_DIGITS = 32  # hexadecimal: 128 bits


class JudgePrompt(NamedTuple):
    """What a judge is sent."""

    system: str
    user: str
    schema: dict[str, Any]
    """A JSON schema of the reply, for providers that can hold a model to one."""


def judge_prompt(
    user_prompt: str,
    response_a: str,
    response_b: str,
    criteria: Sequence[Criterion],
    failures: Sequence[str] = (),
) -> JudgePrompt:
    """Return the question about two responses to a request, by a rubric.

    ``failures`` holds the kinds of the invalid replies so far. The more there are, the stricter
    the question. Equal arguments give equal questions. Raises KeyError for an unknown kind.
    """
    texts = [_SURROGATES.sub("\ufffd", text) for text in (user_prompt, response_a, response_b)]
    word = _unused_word(texts)
    request, first, second = (
        _TEXT.format(what=what, word=word, text=text)
        for what, text in zip(("REQUEST", "RESPONSE A", "RESPONSE B"), texts, strict=True)
    )
    user = _USER.format(
        criteria="\n".join(map(_criterion_line, criteria)),
        word=word,
        request=request,
        response_a=first,
        response_b=second,
        shape=_shape(criteria),
    )
    if failures:
        stricter = _STRICTER[min(len(failures), len(_STRICTER)) - 1]
        user += stricter.format(why=REASONS[failures[-1]])
    return JudgePrompt(_SYSTEM, user, reply_schema(criteria))


def _digest(texts: Sequence[str], count: int) -> str:
    digest = hashlib.sha256(str(count).encode())
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data) + data)  # lengths: no text can lend to its neighbour
    return digest.hexdigest()[:_WORD_DIGITS]


def _unused_word(texts: Sequence[str]) -> str:
    """Return a word derived from the texts that none of them contains, ignoring case."""
    words = (_digest(texts, number) for number in count())
    return next(word for word in words if not any(word in text.lower() for text in texts))


def _criterion_line(criterion: Criterion) -> str:
    described = one_line(criterion.description)
    line = f"- {_quoted(criterion.name)} (weight {criterion.weight:g})"
    return f"{line}: {described}" if described else line


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _shape(criteria: Sequence[Criterion]) -> str:
    """Return the reply to fill in; reasons come first, so that scores follow from them."""
    lines = ",\n".join(
        f'  {{"name": {_quoted(criterion.name)}, "reasoning": "<why>", '
        '"score_a": <1-5>, "score_b": <1-5>}'
        for criterion in criteria
    )
    return f'{{"criteria": [\n{lines}\n], "overall_winner": "<A, B or tie>"}}'


def reply_schema(criteria: Sequence[Criterion]) -> dict[str, Any]:
    """Return the JSON schema of a valid reply, as far as providers check one.

    Providers support neither bounds of numbers nor counts of items. So scores are an enumeration,
    and :func:`skillyard.evals.judgement.verdicts.verdict` checks the reply.
    """
    score = {"type": "integer", "enum": list(range(LOWEST, HIGHEST + 1))}
    scored = {
        "name": {"type": "string", "enum": [criterion.name for criterion in criteria]},
        "reasoning": {"type": "string"},
        "score_a": score,
        "score_b": score,
    }
    return _closed(
        {
            "criteria": {"type": "array", "items": _closed(scored)},
            "overall_winner": {"type": "string", "enum": list(WINNERS)},
        }
    )


def _closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _version() -> str:
    example = (Criterion("name", 1.0, "Description."),)
    parts = [_SYSTEM, _USER, _TEXT, *_STRICTER, _criterion_line(example[0]), _shape(example)]
    parts += [*REASONS, *REASONS.values(), json.dumps(reply_schema(example))]
    return _digest(parts, 0)[:16]


PROMPT_VERSION = _version()
"""A digest of everything above that is not an argument; part of the key of a judgement."""


class JudgeQuestion(NamedTuple):
    """One question to a judge: which of two answers is better."""

    judge_model: str
    user_prompt: str
    slots: tuple[str, str]
    """The texts in slot A and in slot B."""
    criteria: tuple[Criterion, ...]
    run: int
    """It separates repeated judgements of equal texts."""
    prompt_version: str = PROMPT_VERSION


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
            name: _sum(getattr(reply.usage, name) for reply in replies)
            for name in ("input_tokens", "output_tokens")
        },
        "stop_reason": last.stop_reason,
        "latency_s": sum((reply.latency_s for reply in replies), 0.0),
        "prompt_version": PROMPT_VERSION,
        "sent": dict(last.parameters),
        "sdk": last.sdk,
        "fake": any(reply.fake for reply in replies),
    }


def _verdict(reply: ModelReply, criteria: tuple[Criterion, ...]) -> dict[str, Any]:
    if reply.stop_reason == "refusal":
        raise BadVerdict("refusal")
    if reply.stop_reason == "max_tokens":
        raise BadVerdict("truncated")
    parsed = extract_json(reply.text)
    if parsed is None:
        raise BadVerdict("no_json")
    return verdict(parsed, criteria)


def _sum(counts: Iterable[int | None]) -> int | None:
    counted = [count for count in counts if count is not None]
    return sum(counted) if counted else None
