"""From a name, or from a client that exists, to a ChatModel."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from skillyard.errors import InvalidInput
from skillyard.evals.models.calls import ModelFailed, ModelRequest, TokenUsage
from skillyard.evals.models.sdk import PROVIDERS, as_model, open_model
from skillyard_testkit.fake_llm import FakeLlm, faults
from tests.evals.models.conftest import KEY, TIMEOUT_S
from tests.tables import for_each


def test_an_unknown_provider_is_named_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="known: anthropic, openai"):
        open_model("nobody")


@for_each("name", PROVIDERS)
def test_the_address_is_the_argument_else_the_environment_else_the_provider(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(name)
    assert open_model(name).host == f"api.{name}.com"
    assert open_model(name).provider == name
    monkeypatch.setenv(f"{name.upper()}_BASE_URL", "http://127.0.0.1:2/v1")
    assert open_model(name).host == "http://127.0.0.1:2/v1"
    assert open_model(name, base_url="http://127.0.0.1:1").host == "http://127.0.0.1:1"


@for_each("name", PROVIDERS)
def test_a_missing_library_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModelFailed, match=r"pip install .*\[eval\]( @ [^']*)?'") as caught:
        open_model(name)
    assert (caught.value.kind, caught.value.permanent) == ("missing_library", True)


def test_a_librarys_client_is_taken_and_its_retries_are_switched_off(fake: FakeLlm) -> None:
    anthropic = pytest.importorskip("anthropic")
    openai = pytest.importorskip("openai")
    for client, model in (
        (anthropic.Anthropic(api_key=KEY, base_url=fake.url), "claude-haiku-4-5"),
        (openai.OpenAI(api_key=KEY, base_url=fake.openai_url), "gpt-4.1"),
    ):
        wrapped = as_model(client)
        before = len(fake.log.calls)
        fake.faults.add(faults.status(500, f"no {KEY}"))
        with pytest.raises(ModelFailed) as caught:
            wrapped.complete(ModelRequest(model, "", "Hello."), TIMEOUT_S)
        assert len(fake.log.calls) == before + 1
        assert KEY not in str(caught.value)
        assert wrapped.complete(ModelRequest(model, "", "Hello."), TIMEOUT_S).fake
        client.close()


def test_objects_with_a_clients_methods_are_clients() -> None:
    pytest.importorskip("anthropic")
    pytest.importorskip("openai")
    block = SimpleNamespace(type="text", text="Hi.")
    usage = SimpleNamespace(input_tokens=3, output_tokens=4)
    message = SimpleNamespace(content=[block], stop_reason="end_turn", usage=usage)
    requests: list[dict[str, object]] = []

    def create(**named: object) -> object:
        requests.append(named)
        return message

    reply = as_model(SimpleNamespace(messages=SimpleNamespace(create=create))).complete(
        ModelRequest("claude-haiku-4-5", "S", "U", max_tokens=5), 1.0
    )
    assert (reply.text, reply.stop_reason, reply.usage, reply.fake) == (
        "Hi.", "end", TokenUsage(3, 4), False,
    )  # fmt: skip
    assert requests[0]["max_tokens"] == 5
    choice = SimpleNamespace(
        finish_reason="length", message=SimpleNamespace(content="Cut", refusal=None)
    )
    completions = SimpleNamespace(create=lambda **named: SimpleNamespace(choices=[choice]))
    client = SimpleNamespace(chat=SimpleNamespace(completions=completions))
    reply = as_model(client).complete(ModelRequest("m", "", "U"), 1.0)
    assert (reply.text, reply.stop_reason, reply.usage) == ("Cut", "max_tokens", TokenUsage())


@for_each("client", [None, 3, "anthropic", object(), {}])
def test_anything_else_is_refused(client: object) -> None:
    with pytest.raises(InvalidInput, match="neither a ChatModel nor a client"):
        as_model(client)


def test_asynchronous_clients_are_refused_by_name() -> None:
    openai = pytest.importorskip("openai")
    with pytest.raises(InvalidInput, match="AsyncOpenAI is asynchronous; give OpenAI"):
        as_model(openai.AsyncOpenAI(api_key=KEY, base_url="http://127.0.0.1:9"))
