"""Keys come from the environment, go to the provider, and stand nowhere else."""

from __future__ import annotations

import io
import logging
import pickle
import traceback
from collections.abc import Callable

import pytest

from skillyard.errors import InvalidInput
from skillyard.evals.models.calls import ModelFailed, RetryTimes
from skillyard.evals.models.providers import redacted
from skillyard.evals.models.sdk import open_model
from skillyard_testkit.fake_llm import FakeLlm, faults
from skillyard_testkit.messages import json_response, text_response
from tests.evals.models.conftest import KEY, TIMEOUT_S, Provider
from tests.evals.models.test_calls import calls_of
from tests.tables import for_each


def test_the_key_reaches_the_provider(provider: Provider) -> None:
    provider.model.complete(provider.request(), TIMEOUT_S)
    headers = provider.fake.log.calls[0].headers
    assert KEY in headers.get("authorization", "") + headers.get("x-api-key", "")


def echoing(make: Callable[[str], object]) -> list[object]:
    return [make(f"Incorrect API key provided: {KEY}."), make(f"Bearer {KEY}"), make(KEY * 9)]


ECHOES = [
    *echoing(lambda text: faults.status(401, text)),
    *echoing(lambda text: faults.status(400, text)),
    *echoing(lambda text: faults.status(500, text, retry_after="0")),
    *echoing(lambda text: faults.respond_with(text_response(text, 400, kind="text/html"))),
    *echoing(lambda text: faults.respond_with(text_response(text, 200, kind="text/html"))),
    *echoing(lambda text: faults.respond_with(json_response({"error": text}, 429))),
    *echoing(lambda text: faults.respond_with(json_response([text], 403))),
    *echoing(lambda text: faults.redirect(f"http://127.0.0.1:9/{text}".replace(" ", "+"))),
]


@for_each("fault", ECHOES)
def test_a_server_that_repeats_the_key_does_not_make_us_say_it(
    provider: Provider, fault: faults.Fault, caplog: pytest.LogCaptureFixture
) -> None:
    """Errors, their chains, tracebacks, representations, pickles and every log."""
    caplog.set_level(logging.DEBUG)
    caplog.clear()
    provider.fake.faults.clear()
    provider.fake.faults.add(fault, times=None)
    calls = calls_of(provider.model, retry=RetryTimes(base_s=0.0))
    told = io.StringIO()
    try:
        calls.complete(provider.request(), TIMEOUT_S)
    except Exception as error:  # noqa: BLE001  whatever it is, it must not hold the key
        told.write(repr(error) + str(error) + repr(vars(error)))
        told.write(repr(pickle.dumps(error)))
        traceback.print_exception(error, file=told)
    else:
        pytest.fail("the fault gave a reply")
    told.write(repr(calls) + repr(provider.model))
    ours = [record for record in caplog.records if record.name.startswith("skillyard")]
    told.write(repr([record.getMessage() for record in ours]))
    assert KEY not in told.getvalue()
    assert KEY[3:15] not in told.getvalue()


def test_the_libraries_log_no_key(provider: Provider, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    provider.model.complete(provider.request(), TIMEOUT_S)
    assert caplog.records
    assert KEY not in caplog.text


def test_a_redirect_to_another_host_gets_no_key(provider: Provider) -> None:
    with FakeLlm() as thief:
        provider.fake.faults.add(faults.redirect(f"{thief.url}/v1/messages"))
        with pytest.raises(ModelFailed, match="redirects"):
            provider.model.complete(provider.request(), TIMEOUT_S)
        assert thief.log.calls == []


@for_each(
    ("text", "clean"),
    [
        ("key secret-1 is wrong", "key [key] is wrong"),
        ("Incorrect key: sk-abcd************wxyz", "Incorrect key: [key]"),
        ("sent bearer abc.def", "sent [key]"),
        ("a task-force risk-based plan", "a task-force risk-based plan"),
        ("", ""),
    ],
)
def test_redaction(text: str, clean: str) -> None:
    assert redacted(text, ["secret-1", ""]) == clean


@for_each("name", ["anthropic", "openai"])
@for_each("value", [None, "", "  ", "\n"])
def test_without_a_key_the_error_names_the_variable(
    name: str, value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(name)
    variable = f"{name.upper()}_API_KEY"
    monkeypatch.setenv(variable, value or "")
    if value is None:
        monkeypatch.delenv(variable)
    with pytest.raises(ModelFailed, match=f"{variable} is not set: export") as caught:
        open_model(name, base_url="http://127.0.0.1:9")
    assert (caught.value.kind, caught.value.permanent) == ("missing_key", True)


@for_each("key", ["sk-a b", "sk-a\nb", "sk-ü", "sk-\x7f"])
def test_a_key_that_can_be_none_is_refused_and_not_repeated(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ModelFailed, match="holds characters that no key has") as caught:
        open_model("openai")
    assert key not in str(caught.value)


def test_blanks_around_a_key_are_taken_off(
    opened: Callable[..., Provider], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    provider = opened("openai")
    provider.model.complete(provider.request(), TIMEOUT_S)
    assert provider.fake.log.calls[0].headers["authorization"] == f"Bearer {KEY}"


@for_each(
    "address",
    [f"http://user:{KEY}@127.0.0.1:9", f"https://127.0.0.1/v1?key={KEY}", f"ftp://{KEY}", KEY,
     f"http://127.0.0.1:{KEY}", f"//{KEY}"],
)  # fmt: skip
@for_each("through", ["argument", "environment"])
def test_an_address_with_a_credential_or_none_is_refused_and_not_repeated(
    address: str, through: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    argument = None
    if through == "argument":
        argument = address
    else:
        monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(InvalidInput) as caught:
        open_model("openai", base_url=argument)
    assert KEY not in str(caught.value)
    expected = "OPENAI_BASE_URL" if through == "environment" else "the base URL"
    assert expected in str(caught.value)
