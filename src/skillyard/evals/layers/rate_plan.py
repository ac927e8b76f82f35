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

__all__ = ["KINDS", "RequestsNeeded", "requests_needed"]

KINDS = {"activation": 2, "confusion": 1}
"""Kinds of requests by layer: those that need the skill and, in L3, as many that do not."""
_MAX_SKILLS = 100_000


@dataclass(frozen=True, slots=True)
class RequestsNeeded:
    """What shows that a skill is picked for more than a share of its requests."""

    eval_type: str
    rate: float
    """The share of requests that are decided rightly, as it is assumed to be."""
    bound: float
    """The share above which the interval has to lie."""
    skills: int
    runs: int
    listed: int
    """Skills in the index that the router sees."""
    least: int | None
    """Requests of one kind and skill for the interval to lie above the bound at all. None, here and
    below: more than 10,000."""
    to_show: int | None
    """Requests of one kind and skill to show it 4 times in 5."""
    false_statements: float | None
    """The share of runs with so many requests that show it where the true rate is the bound."""
    requests: int | None
    """Of all kinds and skills together."""
    calls: int | None
    """Calls of a model as the router, one for each request and run."""
    input_tokens: int | None
    """Estimated, of all calls together."""
    max_output_tokens: int | None

    def to_dict(self) -> dict[str, object]:
        """Return ``skillyard.eval-requests/1``."""
        return {"schema": "skillyard.eval-requests/1", **asdict(self)}


def requests_needed(
    eval_type: str,
    rate: float,
    bound: float,
    *,
    skills: int = 1,
    runs: int = 1,
    listed: int | None = None,
) -> RequestsNeeded:
    """Return how many requests show that a true ``rate`` is above ``bound``, and their cost.

    ``listed`` is the number of skills in the index, by default ``skills``. Raises InvalidInput for
    figures that no run can have, and where scipy is not installed.
    """
    listed = skills if listed is None else listed
    counts = (skills, runs, listed)
    if not 0 < bound < rate <= 1 or not all(1 <= count <= _MAX_SKILLS for count in counts):
        raise InvalidInput(
            "bound and rate must be shares with 0 < bound < rate <= 1, and skills, runs and listed"
            f" between 1 and {_MAX_SKILLS:,}, not {bound:g}, {rate:g}, {skills}, {runs}, {listed}"
        )
    to_show = requests_for_rate(rate, bound)
    requests = None if to_show is None else to_show * KINDS[eval_type] * skills
    calls = None if requests is None else requests * runs
    return RequestsNeeded(
        eval_type,
        rate,
        bound,
        skills,
        runs,
        listed,
        least_for_rate(bound),
        to_show,
        None if to_show is None else round(chance_above(bound, bound, to_show), 6),
        requests,
        calls,
        None if calls is None else calls * routing_tokens(listed),
        None if calls is None else calls * MAX_TOKENS,
    )
