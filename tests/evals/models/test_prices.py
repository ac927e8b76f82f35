"""Prices: bundled, offline, with source and day; costs that nobody can name are not made up."""

from __future__ import annotations

import socket
import sys
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.models.prices import Price, price, worst_cost
from skillyard.evals.models.protocol import ModelFailed, ModelRequest
from tests.tables import for_each

FLAT = Price(3.0, 15.0)
TIERED = Price(1.0, 5.0, long=((1_000, 2.0, 8.0), (5_000, 4.0, 16.0)))


def test_known_models_have_a_price_a_source_and_a_day() -> None:
    genai_prices = pytest.importorskip("genai_prices")
    day = date(2026, 11, 20)
    haiku = price("anthropic", "claude-haiku-4-5", day)
    assert haiku == Price(
        1.0, 5.0, f"genai-prices {genai_prices.__version__} (bundled)", "2026-11-20"
    )
    assert price("openai", "gpt-4.1-mini", day) is not None


def test_prices_that_change_on_a_day_are_those_of_the_day_asked() -> None:
    pytest.importorskip("genai_prices")
    early, late = (price("openai", "o3", date(year, 11, 1)) for year in (2024, 2026))
    assert early is not None
    assert late is not None
    assert early.input_per_million > late.input_per_million
    assert (early.date, late.date) == ("2024-11-01", "2026-11-01")


def test_the_rate_for_long_inputs_holds_from_its_threshold() -> None:
    pytest.importorskip("genai_prices")
    result = price("anthropic", "claude-haiku-5-5", date(2026, 11, 20))
    assert result is not None
    assert [above for above, *_ in result.long] == [100_000]
    assert result.cost(100_000, 0) == pytest.approx(result.input_per_million / 10)
    assert result.cost(100_001, 0) > 1.5 * result.cost(100_000, 0)


@for_each(
    ("provider", "model"),
    [
        ("anthropic", "claude-haiku-4-20250514"),
        ("anthropic", ""),
        ("openai", "qwen3:8b"),
        ("nobody", "gpt-4.1"),
        ("openai", "whisper-1"),
    ],
)
def test_what_has_no_price_by_tokens_has_none(provider: str, model: str) -> None:
    pytest.importorskip("genai_prices")
    assert price(provider, model) is None


def test_no_network_and_no_update_of_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("genai_prices")
    from genai_prices import data_snapshot

    price.cache_clear()

    def refuse(*_: object) -> None:
        pytest.fail("prices are read offline")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(
        data_snapshot, "_custom_snapshot", data_snapshot.DataSnapshot([], from_auto_update=True)
    )
    assert price("anthropic", "claude-haiku-4-5") is not None


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    price.cache_clear()
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    with pytest.raises(ModelFailed, match=r"pip install .*\[eval\]( @ [^']*)?'"):
        price("anthropic", "claude-haiku-4-5")


REQUESTS = st.builds(
    ModelRequest,
    st.just("m"),
    st.text(max_size=3_000),
    st.text(max_size=3_000),
    st.integers(1, 20_000),
    schema=st.none() | st.dictionaries(st.text(max_size=5), st.text(max_size=50)),
)


@given(REQUESTS, st.sampled_from([FLAT, TIERED]), st.data())
def test_no_call_costs_more_than_its_worst_case(
    request: ModelRequest, known: Price, data: st.DataObject
) -> None:
    """Whatever the length and the tokenizer: a token is at least a byte, and tiers are cliffs."""
    texts = request.system + request.user
    paid = data.draw(st.integers(0, 1_000 + len(texts.encode("utf-8", "surrogatepass"))))
    gained = data.draw(st.integers(0, request.max_tokens))
    assert known.cost(paid, gained) <= worst_cost(known, request) + 1e-12


def test_the_most_tokens_are_the_bytes_and_what_a_provider_adds() -> None:
    request = ModelRequest("m", "ab", "é\ud800", 1)
    assert worst_cost(Price(1e6, 0.0), request) == 1_000 + 2 + 2 + 3
    assert worst_cost(None, ModelRequest("m", "", "")) == 0.0
