"""Prices of models from the table in genai-prices, read offline and never updated."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from functools import cache
from typing import Any, NamedTuple

from skillyard.evals.models.failures import missing_library
from skillyard.evals.models.protocol import ModelRequest, TokenUsage

_OVERHEAD_TOKENS = 1_000
"""Input tokens that a provider adds by itself, to roles and for structured output, at most.

An assumption: providers publish no bound. What one adds has been seen to be a few hundred."""


class Price(NamedTuple):
    """The price of a model."""

    rates: Any
    """Its entry in the table: a ``genai_prices.types.ModelPrice``."""
    source: str = ""
    """The source of the price: ``genai-prices 0.2.3 (bundled)``."""
    date: str = ""
    """The day whose prices these are, ISO 8601: some change on a date that is known beforehand."""

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Return what a call of that size costs, in US dollars."""
        from genai_prices import Usage

        usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
        return float(self.rates.calc_price(usage)["total_price"])


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
    rates = entry.get_prices(datetime.combine(day, time(12), UTC))
    if rates.input_mtok is None or rates.output_mtok is None:
        return None
    return Price(rates, f"genai-prices {__version__} (bundled)", day.isoformat())


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
