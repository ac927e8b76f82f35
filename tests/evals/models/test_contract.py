"""What every adapter does alike: one suite, both providers, their unmodified libraries."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from skillyard.evals.models.calls import ModelFailed, TokenUsage
from skillyard_testkit.fake_llm import faults
from skillyard_testkit.messages import json_response, text_response
from tests.evals.models.conftest import MODELS, TIMEOUT_S, Provider
from tests.tables import for_each

SCHEMA = {
    "type": "object",
    "properties": {"skills": {"type": "array", "items": {"type": "string"}}},
    "required": ["skills"],
    "additionalProperties": False,
}


def failure(provider: Provider, fault: faults.Fault, timeout_s: float = TIMEOUT_S) -> ModelFailed:
    provider.fake.faults.clear()
    provider.fake.log.clear()
    provider.fake.faults.add(fault)
    with pytest.raises(ModelFailed) as caught:
        provider.model.complete(provider.request(), timeout_s)
    assert len(provider.fake.log.calls) == 1, "one attempt, whatever happens"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None, "the library's error holds the request and its key"
    return caught.value


def test_a_reply_carries_text_usage_and_what_was_sent(provider: Provider) -> None:
    request = provider.request(max_tokens=321)
    reply = provider.model.complete(request, TIMEOUT_S)
    assert "export" in reply.text
    assert reply.stop_reason == "end"
    assert reply.usage.input_tokens
    assert reply.usage.output_tokens
    assert reply.parameters == provider.model.parameters(request)
    assert 321 in reply.parameters.values()
    assert reply.sdk.startswith(f"{provider.name} ")
    assert 0 < reply.latency_s < TIMEOUT_S


def test_what_is_said_to_be_sent_is_what_is_sent(provider: Provider) -> None:
    request = provider.request(temperature=0.0, schema=SCHEMA)
    parameters = provider.model.parameters(request)
    assert provider.fake.log.calls == [], "saying it asks nobody"
    provider.model.complete(request, TIMEOUT_S)
    body = dict(provider.fake.log.calls[0].body)
    texts = {"model", "messages", "system"}
    assert {name: body[name] for name in body if name not in texts} == parameters


def test_a_schema_holds_the_reply_to_it(provider: Provider) -> None:
    reply = provider.model.complete(provider.request(schema=SCHEMA), TIMEOUT_S)
    assert provider.fake.log.calls[0].kind == "router"
    assert reply.text.startswith('{"skills": [')


def test_a_stand_in_is_known_by_its_header_and_nothing_else(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert provider.model.complete(provider.request(), TIMEOUT_S).fake is True
    monkeypatch.setattr("skillyard_testkit.fake_llm.server._mark_as_fake", lambda answer: answer)
    assert provider.model.complete(provider.request(), TIMEOUT_S).fake is False


@for_each(
    ("fault", "stop", "empty"),
    [
        ("refusal", "refusal", True),
        ("max-tokens", "max_tokens", False),
        ("empty", "end", True),
        ("thinking-first", "end", False),
    ],
)
def test_ends_have_one_name_with_every_provider(
    provider: Provider, fault: str, stop: str, empty: bool
) -> None:
    provider.fake.faults.add(faults.NAMED[fault]())
    reply = provider.model.complete(provider.request(), TIMEOUT_S)
    assert reply.stop_reason == stop
    assert (reply.text == "") is empty
    assert "First, what is asked?" not in reply.text, "what a model thinks is no answer"


def test_an_unknown_end_keeps_the_providers_word_made_safe(provider: Provider) -> None:
    provider.fake.faults.add(faults.reply_with("Hello.", stop="paused\x1b[2J by\nrule " + "x" * 80))
    stop = provider.model.complete(provider.request(), TIMEOUT_S).stop_reason
    assert stop.startswith("paused\\x1b[2J by rule xxx")
    assert len(stop) <= 40


def test_missing_usage_is_none_and_no_error(provider: Provider) -> None:
    provider.fake.faults.add(faults.without_usage())
    assert provider.model.complete(provider.request(), TIMEOUT_S).usage == TokenUsage(None, None)


@for_each(
    ("name", "kind", "retry", "permanent"),
    [
        ("400", "bad_request", False, False),
        ("401", "authentication", False, True),
        ("403", "permission", False, True),
        ("404", "not_found", False, True),
        ("413", "too_large", False, False),
        ("429", "rate_limited", True, False),
        ("spend-limit", "no_money", False, True),
        ("500", "server", True, False),
        ("503", "overloaded", True, False),
        ("529", "overloaded", True, False),
    ],
)
def test_error_statuses(
    provider: Provider, name: str, kind: str, retry: bool, permanent: bool
) -> None:
    failed = failure(provider, faults.NAMED[name]())
    assert (failed.kind, failed.retry, failed.permanent) == (kind, retry, permanent)
    assert failed.status == (429 if name == "spend-limit" else int(name))
    assert not failed.charged, "no provider bills an error"


@for_each(
    ("name", "kind", "retry", "charged"),
    [
        ("hang", "timeout", True, True),
        ("drip", "timeout", True, True),
        ("reset", "connection", True, True),
        ("truncated-body", "connection", True, True),
        ("broken-json", "bad_reply", False, True),
        ("html", "bad_reply", False, False),
    ],
)
def test_answers_that_are_none(
    provider: Provider, name: str, kind: str, retry: bool, charged: bool
) -> None:
    began = time.monotonic()
    timeout_s = 0.3 if kind == "timeout" else TIMEOUT_S
    failed = failure(provider, faults.NAMED[name](), timeout_s)
    assert time.monotonic() - began < 10, "a byte now and then does not keep us"
    assert (failed.kind, failed.retry, failed.charged) == (kind, retry, charged)
    assert failed.status is None
    assert not failed.permanent


@for_each(
    "document",
    [
        {},
        {"content": None},
        {"content": "text"},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "text", "text": 7}]},
        {"choices": []},
        {"choices": None},
        {"choices": [{"finish_reason": "stop"}]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": 7}}]},
        {"choices": {"0": 1}},
        {"choices": 3, "content": 3},
        [],
        [1, 2],
        3,
        None,
        "text",
    ],
    ids=repr,
)
def test_json_of_another_shape_is_a_bad_reply(provider: Provider, document: object) -> None:
    failed = failure(provider, faults.respond_with(json_response(document)))
    assert failed.kind == "bad_reply"


@for_each("body", [b"", b"\x00\xff", b'{"a":' * 50_000, b"[" * 90_000, b"\xff\xfe{"])
def test_a_body_that_is_no_json_is_a_bad_reply(provider: Provider, body: bytes) -> None:
    failed = failure(provider, faults.respond_with(text_response(body, kind="application/json")))
    assert failed.kind == "bad_reply"


@for_each(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Fri, 01 Jan 2010 00:00:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_what_a_server_asks_to_wait(
    provider: Provider, headers: dict[str, str], seconds: float | None
) -> None:
    failed = failure(provider, faults.status(429, headers=headers))
    assert failed.retry_after_s == seconds


@pytest.mark.parametrize("name", MODELS)
def test_nobody_listens(opened: Callable[..., Provider], name: str) -> None:
    provider = opened(name)
    provider.fake.close()
    with pytest.raises(ModelFailed) as caught:
        provider.model.complete(provider.request(), TIMEOUT_S)
    assert (caught.value.kind, caught.value.retry, caught.value.charged) == (
        "connection", True, False,
    )  # fmt: skip


def test_half_a_surrogate_pair_is_refused_before_it_is_sent(provider: Provider) -> None:
    with pytest.raises(ModelFailed, match=r"refused the request: .*surrogates") as caught:
        provider.model.complete(provider.request("a\ud800b"), TIMEOUT_S)
    assert caught.value.kind == "bad_request"
    assert provider.fake.log.calls == []


def test_one_model_serves_many_threads(provider: Provider) -> None:
    texts = [f"Explain table number {number}." for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        replies = list(
            pool.map(lambda text: provider.model.complete(provider.request(text), TIMEOUT_S), texts)
        )
    alone = [provider.model.complete(provider.request(text), TIMEOUT_S).text for text in texts]
    assert [reply.text for reply in replies] == alone


def test_the_server_is_named_whole_and_without_credentials(provider: Provider) -> None:
    assert provider.model.host == provider.url
