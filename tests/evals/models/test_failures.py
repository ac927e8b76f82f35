"""Error bodies of every shape: the kind is found by the words, and the text is made safe."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillyard.evals.models.calls import ModelFailed
from skillyard.evals.models.providers import NO_MONEY
from skillyard_testkit.fake_llm import faults
from skillyard_testkit.messages import json_response
from tests.evals.models.conftest import TIMEOUT_S, Provider
from tests.tables import for_each

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "type", "code", "details", "error_code", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


def failure_of(provider: Provider, body: object, status: int) -> ModelFailed:
    provider.fake.faults.clear()
    provider.fake.faults.add(faults.respond_with(json_response(body, status)))
    with pytest.raises(ModelFailed) as caught:
        provider.model.complete(provider.request(), TIMEOUT_S)
    return caught.value


@for_each("word", sorted(NO_MONEY))
@for_each("status", [400, 402, 403, 429])
def test_no_money_is_known_by_its_word_whatever_the_status(
    provider: Provider, word: str, status: int
) -> None:
    for error in (
        {"type": word, "message": "m"},
        {"type": "t", "code": word, "message": "m"},
        {"type": "t", "message": "m", "details": {"error_code": word}},
    ):
        failed = failure_of(provider, {"type": "error", "error": error}, status)
        assert (failed.kind, failed.permanent, failed.retry) == ("no_money", True, False)


def test_no_credit_and_an_account_on_hold_come_with_status_400(provider: Provider) -> None:
    text = "Your credit balance is too low to access the API."
    failed = failure_of(
        provider, {"error": {"type": "invalid_request_error", "message": text}}, 400
    )
    assert (failed.kind, failed.permanent) == ("no_money", True)
    error = {"type": "t", "message": "m", "details": {"error_code": "organization_on_hold"}}
    failed = failure_of(provider, {"error": error}, 400)
    assert (failed.kind, failed.permanent) == ("permission", True)


def test_a_servers_text_is_one_short_line_without_control_characters(provider: Provider) -> None:
    text = "bad\x1b[31m\nnews\u202e " + "x" * 5_000
    failed = failure_of(provider, {"error": {"type": "t", "message": text}}, 400)
    assert "\n" not in str(failed)
    assert "bad\\x1b[31m news\\u{202e} xxx" in str(failed)
    assert len(str(failed)) < 400


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=JSON, status=st.sampled_from([400, 401, 404, 429, 500, 529]))
def test_a_body_of_any_shape_is_a_failure_of_a_known_kind(
    provider: Provider, body: object, status: int
) -> None:
    failed = failure_of(provider, body, status)
    words = json.dumps(body)
    if not any(word in words for word in NO_MONEY):
        assert failed.status == status
        assert failed.retry is (status in (429, 500, 529))
