"""Prices of models from the table in genai-prices, read offline and never updated.

A price is US dollars per million tokens. If a model costs more for long inputs, the higher rate
applies to all tokens of a call whose input is over the threshold.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import cache
from math import floor
from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.evals.models.failures import missing_library
from skillyard.evals.models.protocol import ModelRequest, TokenUsage

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

PER = 1_000_000
_OVERHEAD_TOKENS = 1_000
"""Input tokens that a provider adds by itself, to roles and for structured output, at most.

An assumption: providers publish no bound. What one adds has been seen to be a few hundred."""


class LongInput(NamedTuple):
    """The rates for calls whose input is longer than ``above_tokens``."""

    above_tokens: int
    input_per_million: float
    output_per_million: float


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model, in US dollars per million tokens."""

    input_per_million: float
    output_per_million: float
    source: str = ""
    """The source of the price: ``genai-prices 0.2.3 (bundled)``."""
    date: str = ""
    """The day whose prices these are, ISO 8601: some change on a date that is known beforehand."""
    long: tuple[LongInput, ...] = ()
    """Rates for long inputs, by rising threshold; none for most models."""

    def rates(self, input_tokens: int) -> tuple[float, float]:
        """Return the rates, input and output, for a call with an input of that length."""
        for tier in reversed(self.long):
            if input_tokens > tier.above_tokens:
                return tier.input_per_million, tier.output_per_million
        return self.input_per_million, self.output_per_million


PriceOf = Callable[[str], Price | None]
"""A model's price by its id; None where it is not known."""


def price(provider: str, model: str, on: date | None = None) -> Price | None:
    """Return the price of a model on a day (default: today in UTC), or None when it is unknown.

    ``provider`` is ``anthropic`` or ``openai``. A self-hosted server may use the name of a known
    model; the price is then the provider's. Raises ModelFailed (``missing_library``) without
    genai-prices.
    """
    day = on or datetime.now(UTC).date()
    return _price(provider, model, day)


@cache
def _price(provider: str, model: str, day: date) -> Price | None:
    table, version = _table()
    try:
        _, entry = table.find_provider_model(model, None, provider, None)
    except LookupError:
        return None
    rates = entry.get_prices(datetime.combine(day, time(12), UTC))
    if rates.input_mtok is None or rates.output_mtok is None:
        return None
    both = (rates.input_mtok, rates.output_mtok)
    starts = {0, *(tier.start for rate in both for tier in getattr(rate, "tiers", ()))}
    base, *long = [
        LongInput(start, _rate(rates.input_mtok, start), _rate(rates.output_mtok, start))
        for start in sorted(starts)
    ]
    source = f"genai-prices {version} (bundled)"
    return Price(
        base.input_per_million, base.output_per_million, source, day.isoformat(), tuple(long)
    )


@cache
def _table() -> tuple[DataSnapshot, str]:
    """Return the table that the package carries, whatever anybody has updated, and its version."""
    try:
        from genai_prices import __version__
        from genai_prices.data import providers
        from genai_prices.data_snapshot import DataSnapshot
    except ImportError:
        raise missing_library("genai-prices") from None
    return DataSnapshot(providers=providers, from_auto_update=False), __version__


def _rate(rate: Any, start: int) -> float:
    """Return the rate just above a threshold; 0 is the base."""
    price_value = getattr(rate, "base", rate)
    for tier in getattr(rate, "tiers", ()):
        if 0 < tier.start <= start:
            price_value = tier.price
    return float(price_value)


def estimate(price_of_model: Price | None, input_tokens: int, output_tokens: int) -> float:
    """Return what a call of that size costs, in US dollars; 0 without a price."""
    if price_of_model is None:
        return 0.0
    input_rate, output_rate = price_of_model.rates(input_tokens)
    return (input_tokens * input_rate + output_tokens * output_rate) / PER


def cost_of(price_of_model: Price | None, usage: TokenUsage) -> float:
    """Return what a call cost by the provider's own count, in US dollars.

    What the provider did not count is taken as 0, and so is the cost without a price.
    """
    return estimate(price_of_model, usage.input_tokens or 0, usage.output_tokens or 0)


def max_input_tokens(request: ModelRequest) -> int:
    """Return more input tokens than the request can have.

    Tokenizers that work on bytes make at most one token of a byte; 1,000 are added for what a
    provider puts around the texts.
    """
    texts = [request.system, request.user]
    if request.schema is not None:
        texts.append(json.dumps(request.schema))
    in_texts = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return _OVERHEAD_TOKENS + in_texts


def worst_cost(price_of_model: Price | None, request: ModelRequest) -> float:
    """Return the most that one call can cost, in US dollars; 0 without a price.

    The input counts as :func:`max_input_tokens`, the output as the call's own ``max_tokens``.
    """
    input_tokens = max_input_tokens(request)
    costs = [
        input_tokens * input_rate + request.max_tokens * output_rate
        for input_rate, output_rate in _possible_rates(price_of_model, input_tokens)
    ]
    return max(costs) / PER


def affordable_tokens(price_of_model: Price | None, request: ModelRequest, dollars: float) -> int:
    """Return the output tokens that an amount pays for beside the input: 0 to ``max_tokens``.

    With so many as ``max_tokens``, :func:`worst_cost` of the request is at most the amount.
    """
    input_tokens = max_input_tokens(request)
    outputs = [
        (dollars * PER - input_tokens * input_rate) / output_rate
        for input_rate, output_rate in _possible_rates(price_of_model, input_tokens)
        if output_rate
    ]
    return max(0, min([request.max_tokens, *map(floor, outputs)]))


def _possible_rates(price_of_model: Price | None, max_input: int) -> list[tuple[float, float]]:
    """Return the rates, input and output, of all inputs up to a length; 0 without a price."""
    if price_of_model is None:
        return [(0.0, 0.0)]
    above = [tier.above_tokens for tier in price_of_model.long if tier.above_tokens < max_input]
    return [price_of_model.rates(start) for start in (0, *(tokens + 1 for tokens in above))]
