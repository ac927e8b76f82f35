"""Every fault by its name, over plain HTTP; and the queue that hands them out."""

from __future__ import annotations

import json
from http.client import IncompleteRead
from threading import Thread

import pytest

from skillyard.evals.criteria import DEFAULT_CRITERIA
from skillyard.evals.judgement.prompt import judge_prompt
from skillyard.evals.judgement.verdicts import BadVerdict, verdict
from skillyard_testkit.fake_llm import FakeLlm, faults
from tests.shared_data import cases
from tests.tables import for_each
from tests.testkit.fake_llm.conftest import CHAT, MESSAGES, Got, chat, message, post

STATUSES = {
    "400": 400, "401": 401, "403": 403, "404": 404, "413": 413, "429": 429,
    "429-retry-after": 429, "spend-limit": 429, "500": 500, "503": 503, "529": 529,
}  # fmt: skip
KINDS = {
    "missing-criterion": "missing_criterion",
    "duplicate-criterion": "duplicate_criterion",
    "unknown-criterion": "unknown_criterion",
    "score-zero": "score_out_of_range",
    "score-nine": "score_out_of_range",
    "score-bool": "score_not_integer",
    "score-string": "score_not_integer",
    "score-fraction": "score_not_integer",
    "score-null": "score_not_integer",
    "criteria-not-list": "bad_shape",
    "reasoning-not-text": "bad_reasoning",
    "unknown-winner": "bad_winner",
}


def judging(fake: FakeLlm) -> Got:
    prompt = judge_prompt("Ask me", "first", "second", DEFAULT_CRITERIA)
    config = {"format": {"type": "json_schema", "schema": prompt.schema}}
    return post(fake, MESSAGES, message(prompt.user, system=prompt.system, output_config=config))


def ask(fake: FakeLlm, path: str) -> Got:
    return post(fake, path, chat() if path == CHAT else message())


@for_each("path", [MESSAGES, CHAT])
@for_each("name", STATUSES)
def test_statuses(fake: FakeLlm, path: str, name: str) -> None:
    fake.faults.add(faults.NAMED[name]())
    got = ask(fake, path)
    assert got.status == STATUSES[name]
    assert got.error
    assert got.headers.get("retry-after") == ("1" if name == "429-retry-after" else None)
    assert ask(fake, path).status == 200, "a fault meets one request"


@pytest.mark.parametrize("path", [MESSAGES, CHAT])
@pytest.mark.parametrize(
    ("name", "stops"),
    [
        ("refusal", {"refusal", "content_filter"}),
        ("max-tokens", {"max_tokens", "length"}),
        ("context-window", {"model_context_window_exceeded"}),
        ("empty", {"end_turn", "stop"}),
        ("thinking-first", {"end_turn", "stop"}),
    ],
)
def test_replies_that_end_otherwise(fake: FakeLlm, path: str, name: str, stops: set[str]) -> None:
    honest = ask(fake, path)
    fake.faults.add(faults.NAMED[name]())
    got = ask(fake, path).json
    choice = got["choices"][0] if path == CHAT else got
    assert choice["finish_reason" if path == CHAT else "stop_reason"] in stops
    if name == "thinking-first" and path == MESSAGES:
        assert [block["type"] for block in got["content"]] == ["thinking", "text"]
    if name in ("refusal", "empty") and path == MESSAGES:
        assert got["content"] == []
    if name == "refusal" and path == CHAT:
        assert (choice["message"]["content"], bool(choice["message"]["refusal"])) == (None, True)
    if name == "max-tokens" and path == CHAT:
        assert honest.text.startswith(choice["message"]["content"])


@for_each("name", ["hang", "drip"])
def test_closing_ends_what_hangs(name: str) -> None:
    """Sockets are shut down before they are closed; else the client would wait for its timeout."""
    ended: list[BaseException] = []

    def wait() -> None:
        try:
            ask(fake, MESSAGES)
        except (OSError, IncompleteRead) as error:
            ended.append(error)
        except Exception as error:  # noqa: BLE001  http.client has several for a cut answer
            ended.append(error)

    with FakeLlm() as fake:
        fake.faults.add(faults.NAMED[name]())
        client = Thread(target=wait)
        client.start()
        while not fake.log.calls:
            client.join(0.005)
    client.join(10)
    assert len(ended) == 1
    assert not client.is_alive()


@for_each("name", faults.VERDICTS)
def test_every_broken_verdict_is_refused_for_its_own_reason(fake: FakeLlm, name: str) -> None:
    fake.faults.add(faults.broken_verdict(name))
    reply = json.loads(judging(fake).text)
    with pytest.raises(BadVerdict) as caught:
        verdict(reply, DEFAULT_CRITERIA)
    assert caught.value.kind == KINDS[name]
    verdict(json.loads(judging(fake).text), DEFAULT_CRITERIA)  # the next one is good


def test_every_error_kind_of_the_published_cases_has_a_broken_verdict() -> None:
    expected = [case["expected"] for case in cases("judge_remap")["cases"]]
    published = {each["error"] for each in expected if "error" in each}
    assert published <= set(KINDS.values())
    assert set(KINDS) == set(faults.VERDICTS)


def test_faults_wait_in_order_for_the_kind_they_are_for(fake: FakeLlm) -> None:
    fake.faults.add(faults.status(500), kind="judge", times=2)
    fake.faults.add(faults.status(503), faults.status(529))
    reply = [ask(fake, MESSAGES).status for _ in range(3)]
    assert reply == [503, 529, 200]
    assert [judging(fake).status for _ in range(3)] == [500, 500, 200]
    assert fake.faults.left == 0
    fake.faults.add(faults.status(500), times=None)
    assert [ask(fake, CHAT).status for _ in range(3)] == [500] * 3
    assert fake.faults.left == 1
    fake.faults.clear()
    assert ask(fake, CHAT).status == 200
