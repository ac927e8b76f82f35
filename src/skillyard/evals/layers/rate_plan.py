"""How many requests the layers need in which a router picks (L3, L4), and what they cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from skillyard.errors import InvalidInput
from skillyard.evals.layers.router import MAX_TOKENS, routing_tokens
from skillyard.evals.statistics.rate_power import (
    chance_above,
    least_for_rate,
    requests_for_rate,
)

__all__ = ["KINDS", "RequestPlan", "requests_needed"]

KINDS = {"activation": 2, "confusion": 1}
"""Rates by layer: of requests that need a skill and, in L3, of as many that do not; in L4 one for
each group of similar skills."""
_MAX_COUNT = 100_000


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """What shows that a skill is picked for more than a share of its requests."""

    eval_type: str
    rate: float
    """The share of requests that are decided rightly, as it is assumed to be."""
    bound: float
    """The share above which the interval has to lie."""
    skills: int
    groups: int | None
    """Groups of similar skills, in L4."""
    runs: int
    listed: int | None
    """Skills in the index that the router sees, where it is known."""
    least: int | None
    """Requests of one rate for the interval to lie above the bound at all. None, here and below:
    more than 10,000."""
    to_show: int | None
    """Requests of one rate to show it 4 times in 5."""
    rates: int
    """Rates of all skills or groups together: each stands by itself."""
    false_statements: float | None
    """The share of runs with so many requests that show one rate where its true value is the
    bound."""
    any_false: float | None
    """The same of at least one of the rates, if the true value of each is the bound."""
    requests: int | None
    """Of all rates together."""
    calls: int | None
    """Calls of a model as the router, one for each request and run."""
    input_tokens: int | None
    """Estimated, of all calls together, where ``listed`` is known."""
    max_output_tokens: int | None
    """What the calls allow, without repeated attempts."""

    def to_dict(self) -> dict[str, object]:
        """Return ``skillyard.eval-requests/1``."""
        return {"schema": "skillyard.eval-requests/1", **asdict(self)}


def requests_needed(
    eval_type: str,
    rate: float,
    bound: float,
    *,
    skills: int = 1,
    groups: int = 1,
    runs: int = 1,
    listed: int | None = None,
) -> RequestPlan:
    """Return how many requests show that a true ``rate`` is above ``bound``, and their cost.

    L3 has two rates for each of ``skills``, L4 one for each of ``groups``. ``listed`` is the number
    of skills in the index. Raises InvalidInput for figures that no run can have, and where scipy is
    not installed.
    """
    if not 0 < bound < rate <= 1:
        raise InvalidInput(
            f"--above {bound:g} and --rate {rate:g} are not two shares with 0 < above < rate <= 1"
        )
    counts = {"--skills": skills, "--groups": groups, "--runs": runs, "--listed": listed}
    for option, count in counts.items():
        if count is not None and not 1 <= count <= _MAX_COUNT:
            raise InvalidInput(f"{option} {count} is not between 1 and {_MAX_COUNT:,}")
    grouped = eval_type == "confusion"
    to_show = requests_for_rate(rate, bound)
    rates = KINDS[eval_type] * (groups if grouped else skills)
    requests = None if to_show is None else to_show * rates
    calls = None if requests is None else requests * runs
    false = None if to_show is None else chance_above(bound, bound, to_show)
    return RequestPlan(
        eval_type,
        rate,
        bound,
        skills,
        groups if grouped else None,
        runs,
        listed,
        least_for_rate(bound),
        to_show,
        rates,
        None if false is None else round(false, 6),
        None if false is None else round(1 - (1 - false) ** rates, 6),
        requests,
        calls,
        None if calls is None or listed is None else calls * routing_tokens(listed),
        None if calls is None else calls * MAX_TOKENS,
    )
