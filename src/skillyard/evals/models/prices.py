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
from typing import Any

from skillyard.evals.models.failures import missing_library
from skillyard.evals.models.protocol import ModelRequest, TokenUsage

_OVERHEAD_TOKENS = 1_000
"""Input tokens that a provider adds by itself, to roles and for structured output, at most.

An assumption: providers publish no bound. What one adds has been seen to be a few hundred."""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model, in US dollars per million tokens."""

    input_per_million: float
    output_per_million: float
    source: str = ""
    """The source of the price: ``genai-prices 0.2.3 (bundled)``."""
    date: str = ""
    """The day whose prices these are, ISO 8601: some change on a date that is known beforehand."""
    long: tuple[tuple[int, float, float], ...] = ()
    """For inputs of more tokens than the first number, by rising numbers: the two higher rates."""

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Return what a call of that size costs, in US dollars."""
        rates = (self.input_per_million, self.output_per_million)
        for above, *higher in self.long:
            if input_tokens > above:
                rates = (higher[0], higher[1])
        return (input_tokens * rates[0] + output_tokens * rates[1]) / 1_000_000


PriceOf = Callable[[str], Price | None]
"""A model's price by its id; None where it is not known."""


@cache
def price(provider: str, model: str, on: date | None = None) -> Price | None:
    """Return the price of a model on a day (default: today in UTC), or None when it is unknown.

    ``provider`` is ``anthropic`` or ``openai``. A self-hosted server may use the name of a known
    model; the price is then the provider's. Raises ModelFailed (``missing_library``) without
    genai-prices.
    """
    try:
        from genai_prices import __version__
        from genai_prices.data import providers
        from genai_prices.data_snapshot import DataSnapshot
    except ImportError:
        raise missing_library("genai-prices") from None
    day = on or datetime.now(UTC).date()
    # The table that the package carries, whatever somebody else has updated.
    table = DataSnapshot(providers=providers, from_auto_update=False)
    try:
        _, entry = table.find_provider_model(model, None, provider, None)
    except LookupError:
        return None
    known = entry.get_prices(datetime.combine(day, time(12), UTC))
    both = (known.input_mtok, known.output_mtok)
    if None in both:
        return None
    starts = sorted({tier.start for rate in both for tier in getattr(rate, "tiers", ())} - {0})
    return Price(
        _rate(both[0], 0),
        _rate(both[1], 0),
        f"genai-prices {__version__} (bundled)",
        day.isoformat(),
        tuple((start, _rate(both[0], start), _rate(both[1], start)) for start in starts),
    )


def _rate(rate: Any, start: int) -> float:
    """Return the rate just above a threshold; 0 is the base."""
    dollars = getattr(rate, "base", rate)
    for tier in getattr(rate, "tiers", ()):
        if 0 < tier.start <= start:
            dollars = tier.price
    return float(dollars)


def cost_of(price_of_model: Price | None, usage: TokenUsage) -> float:
    """Return what a call cost by the provider's own count, in US dollars.

    What the provider did not count is taken as 0, and so is the cost without a price.
    """
    if price_of_model is None:
        return 0.0
    return price_of_model.cost(usage.input_tokens or 0, usage.output_tokens or 0)


def worst_cost(price_of_model: Price | None, request: ModelRequest) -> float:
    """Return the most that one call can cost, in US dollars; 0 without a price.

    Tokenizers that work on bytes make at most one token of a byte; 1,000 tokens are added for what
    a provider puts around the texts. The output counts as the call's own ``max_tokens``.
    """
    if price_of_model is None:
        return 0.0
    texts = (request.system, request.user, json.dumps(request.schema) if request.schema else "")
    in_texts = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return price_of_model.cost(_OVERHEAD_TOKENS + in_texts, request.max_tokens)
