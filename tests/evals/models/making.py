"""Prices for tests."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType

from skillyard.evals.models.calls import Price

NO_TIERS: Mapping[int, float] = MappingProxyType({})


def price_of(
    input_per_million: float, output_per_million: float, above: Mapping[int, float] = NO_TIERS
) -> Price:
    """Return a price in US dollars per million tokens; ``above`` has rates for long inputs."""
    from genai_prices.types import ModelPrice, Tier, TieredPrices

    tiers = [Tier(start=start, price=Decimal(rate)) for start, rate in above.items()]
    rate = TieredPrices(base=Decimal(input_per_million), tiers=tiers)
    return Price(ModelPrice(input_mtok=rate, output_mtok=Decimal(output_per_million)))
