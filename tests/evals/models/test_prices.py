"""Prices: bundled, offline, with source and day; costs that nobody can name are not made up."""

from __future__ import annotations

import socket
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.models.calls import ModelFailed, ModelRequest, worst_cost
from skillyard.evals.models.providers import price
from tests.evals.models.making import price_of
from tests.tables import for_each

genai_prices = pytest.importorskip("genai_prices")


def test_known_models_have_a_price_a_source_and_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    price.cache_clear()
    day = datetime.now(UTC).date().isoformat()
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("it is read offline"))
    haiku = price("anthropic", "claude-haiku-4-5")
    assert haiku is not None
    assert haiku.cost(1_000_000, 100_000) == pytest.approx(1.0 + 0.5)
    assert haiku.source == f"genai-prices {genai_prices.__version__} (bundled)"
    assert haiku.date in (day, datetime.now(UTC).date().isoformat())


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
    assert price(provider, model) is None


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    price.cache_clear()
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    with pytest.raises(ModelFailed, match=r"pip install .*\[eval\]( @ [^']*)?'"):
        price("anthropic", "claude-haiku-4-5")


@given(st.text(max_size=3_000), st.integers(1, 20_000), st.booleans(), st.data())
def test_no_call_costs_more_than_its_worst_case(
    text: str, max_tokens: int, tiered: bool, data: st.DataObject
) -> None:
    """Whatever the length and the tokenizer: a token is at least a byte, and tiers are cliffs."""
    request = ModelRequest("m", text, text, max_tokens)
    known = price_of(1.0, 5.0, above={1_500: 3.0} if tiered else {})
    most = 1_000 + 2 * len(text.encode("utf-8", "surrogatepass"))
    paid, gained = data.draw(st.integers(0, most)), data.draw(st.integers(0, max_tokens))
    assert known.cost(paid, gained) <= worst_cost(known, request) + 1e-12
    assert worst_cost(None, request) == 0.0
