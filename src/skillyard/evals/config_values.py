"""The section ``[eval]`` of ``skillyard.toml`` with all defaults (spec/evals.md 1.4).

Keys of providers come from the environment. A text that looks like one is refused and never shown.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from skillyard.base.errors import InvalidInput
from skillyard.base.operation import Bounds
from skillyard.base.strict_toml import NOT_BLANK, USER_ONLY, SomeText
from skillyard.evals.criteria import DEFAULT_ROLE
from skillyard.evals.statistics.intervals import MARGIN

_SECRET = re.compile(r"\s*(?:Bearer\s+\S|sk-[A-Za-z0-9]|sk_[A-Za-z0-9])", re.IGNORECASE)


def _no_secret(text: str) -> str:
    if _SECRET.match(text):
        raise InvalidInput(
            "looks like a credential; remove it (and change the key if others could read it): keys"
            " come from the environment, ANTHROPIC_API_KEY or OPENAI_API_KEY"
        )
    return text


def _address(text: str) -> str:
    from skillyard.evals.models.providers import address_fault

    fault = address_fault(text)
    if fault:
        raise InvalidInput(f"{fault}; write http://host:port or https://host")
    return text


ModelId = Annotated[str, NOT_BLANK, _no_secret]
Orders = Literal["both", "single"]
Share = Annotated[float, Bounds(0, 1)]
Points = Annotated[float, Bounds(0, 4)]
"""On the scale of 1 to 5."""
Cases = Annotated[int, Bounds(1, 1_000_000)]
Seed = Annotated[int, Bounds(0, 2**63 - 1)]
JudgeTokens = Annotated[int, Bounds(256, 1_000_000)]
JudgeRetries = Annotated[int, Bounds(0, 10)]


@dataclass(frozen=True, slots=True)
class Models:
    """Model ids of the provider. There are no defaults: ids change, and cost follows from them."""

    generation: ModelId = ""
    """Writes the answers, and picks skills where a model is the router. Empty: not set."""
    judge: ModelId = ""
    """Judges the answers. Empty: not set."""


@dataclass(frozen=True, slots=True)
class RetryTimes:
    """Waiting before another attempt: ``base_s * 2**attempt``, plus up to ``jitter`` of it."""

    max_retries: Annotated[int, Bounds(0, 10)] = 3
    """Attempts after the first."""
    base_s: Annotated[float, Bounds(0, 60)] = 2.0
    """Seconds."""
    jitter: Share = 0.5


@dataclass(frozen=True, slots=True)
class Cost:
    """The caps of a run, as numbers or ``"none"``."""

    max_cost_per_run: Annotated[float | None, Bounds(0, 100_000)] = 15.0
    """US dollars."""
    max_calls_per_run: Annotated[int | None, Bounds(1, 10_000_000)] = 500


@dataclass(frozen=True, slots=True)
class Paths:
    """The paths of the data, relative to the folder of the evaluations."""

    cases: SomeText = "."
    """Case files of skills, ``<skill>.yaml``; the others hold cases of one layer alone."""
    rubrics: SomeText = "rubrics"
    activation: SomeText = "datasets/activation"
    candidates: SomeText = "datasets/size_impact/candidates.yaml"
    baselines: SomeText = "baselines"
    results: SomeText = "results"
    reports: SomeText = "reports"


@dataclass(frozen=True, slots=True)
class FailFast:
    """Stop when the same failure comes again and again."""

    enabled: bool = True
    consecutive: Annotated[int, Bounds(2, 1_000)] = 3


@dataclass(frozen=True, slots=True)
class EffectivenessLimits:
    """A regression of a mean is a drop above ``mean_drop`` and above so many baseline spreads."""

    mean_drop: Points = 0.5
    stddev_multiplier: Annotated[float, Bounds(0, 100)] = 0.0
    """With 2, the first default, a fall of one point was found more seldom the more prompts there
    were: the spread between cases does not shrink."""
    min_cases: Cases = 3


@dataclass(frozen=True, slots=True)
class ActivationLimits:
    """Changes of rates."""

    tpr_drop: Share = 0.10
    fpr_increase: Share = 0.05
    min_cases: Cases = 5


@dataclass(frozen=True, slots=True)
class SizeImpactLimits:
    """A change of a mean improvement, in either direction."""

    score_change: Points = 0.5
    min_cases: Cases = 3


@dataclass(frozen=True, slots=True)
class Regression:
    """From which difference to a baseline on a layer reports a regression."""

    effectiveness: EffectivenessLimits = EffectivenessLimits()
    activation: ActivationLimits = ActivationLimits()
    size_impact: SizeImpactLimits = SizeImpactLimits()


@dataclass(frozen=True, slots=True)
class Judging:
    """The settings of the judge."""

    orders: Orders = "both"
    """``both``: each pair twice, swapped; ``single``: once, in an order drawn by seed."""
    max_retries: JudgeRetries = 2
    """Further attempts, each with a stricter text, at a reply that is no valid verdict."""
    tie_band: Points = 0.0
    """Score differences up to this are ties."""
    margin: Points = MARGIN
    """Arms whose scores differ by less are equivalent, in points of the 1..5 scale."""
    max_tokens: JudgeTokens = 4_096


@dataclass(frozen=True, slots=True)
class RunValues:
    """What the configuration and the settings of a run have in common."""

    provider: Literal["anthropic", "openai"] = "anthropic"
    base_url: Annotated[str | None, _address, USER_ONLY] = None
    """A server with the provider's API, which gets the key; else from the environment, or the
    provider's own."""
    temperature: Annotated[float, Bounds(0, 2)] = 0.0
    """As requested; it is sent to models that take one."""
    max_tokens: Annotated[int, Bounds(1, 1_000_000)] = 16_000
    """Most output tokens of a generation; current models count what they think against it."""
    runs: Annotated[int, Bounds(1, 1_000)] = 1
    concurrency: Annotated[int, Bounds(1, 64)] = 4
    """Requests in flight at a time."""
    role: Annotated[str, _no_secret] = DEFAULT_ROLE
    """The fixed first sentence of every system text."""
    chars_per_token: Annotated[float, Bounds(1, 20)] = 4.0
    """For estimates; 3.6 fits English on newer tokenizers better."""
    timeout_s: Annotated[float | None, Bounds(above=0, most=36_000)] = None
    """Time limit of a request in seconds. ``"none"``: 15, and one for each 50 output tokens that it
    may have."""


@dataclass(frozen=True, slots=True)
class Config(RunValues):
    """How evaluations run, before the options of the command line are applied."""

    models: Models = Models()
    retry: RetryTimes = RetryTimes()
    cost: Cost = Cost()
    default_seed: Seed = 42
    paths: Paths = Paths()
    fail_fast: FailFast = FailFast()
    regression: Regression = Regression()
    judging: Judging = Judging()

    def below(self, folder: str | os.PathLike[str]) -> Config:
        """Return the config with every relative path put below a folder."""
        home = os.fspath(folder)
        paths = {
            name: os.path.normpath(os.path.join(home, getattr(self.paths, name)))
            for name in Paths.__slots__
        }
        return replace(self, paths=Paths(**paths))
