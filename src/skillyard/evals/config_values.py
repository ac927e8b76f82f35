"""The configuration of evaluations as a frozen value with all defaults (spec/evals.md 1.4)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

__all__ = [
    "ORDERS",
    "ActivationLimits",
    "Config",
    "ConfusionLimits",
    "Cost",
    "EffectivenessLimits",
    "FailFast",
    "Judging",
    "Models",
    "Paths",
    "Regression",
    "RetryTimes",
    "SizeImpactLimits",
    "Timeouts",
]

ORDERS = ("both", "single")
"""The values of ``judging.orders``."""


@dataclass(frozen=True, slots=True)
class Models:
    """Model ids of the provider. There are no defaults: ids change, and cost follows from them."""

    generation: str = ""
    """Writes the answers, and picks skills where a model is the router. Empty: not set."""
    judge: str = ""
    """Judges the answers. Empty: not set."""
    more_judges: tuple[str, ...] = ()
    """Judge the same pairs too, for the agreement between judges."""


@dataclass(frozen=True, slots=True)
class RetryTimes:
    """Waiting before another attempt: ``base_s * 2**attempt``, plus up to ``jitter`` of it."""

    max_retries: int = 3
    """0..10 attempts after the first."""
    base_s: float = 2.0
    """Seconds."""
    jitter: float = 0.5
    """0..1."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The caps of a run. None: no cap."""

    max_cost_per_run: float | None = 15.0
    """US dollars."""
    max_calls_per_run: int | None = 500


@dataclass(frozen=True, slots=True)
class Paths:
    """The paths of the data. In a file they are relative to the file's folder."""

    rubrics: str = "rubrics"
    activation: str = "datasets/activation"
    confusion: str = "datasets/confusion"
    candidates: str = "datasets/size_impact/candidates.yaml"
    baselines: str = "baselines"
    results: str = "results"
    reports: str = "reports"


@dataclass(frozen=True, slots=True)
class FailFast:
    """Stop when the same failure comes again and again."""

    enabled: bool = True
    consecutive: int = 3


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: per attempt, and per case over all of its retries."""

    routing_s: float = 15.0
    generation_s: float = 45.0
    judge_s: float = 45.0
    routing_case_s: float = 60.0
    case_s: float = 120.0
    """For a generation or a judgement."""


@dataclass(frozen=True, slots=True)
class EffectivenessLimits:
    """A regression of a mean is a drop above ``mean_drop`` and above so many baseline spreads."""

    mean_drop: float = 0.5
    """Points of the 1..5 scale."""
    stddev_multiplier: float = 2.0
    min_cases: int = 3


@dataclass(frozen=True, slots=True)
class ActivationLimits:
    """Rates as shares, 0..1."""

    tpr_drop: float = 0.10
    fpr_increase: float = 0.05
    min_cases: int = 5


@dataclass(frozen=True, slots=True)
class SizeImpactLimits:
    """A change of a mean improvement, in points of the 1..5 scale, in either direction."""

    score_change: float = 0.5
    min_cases: int = 3


@dataclass(frozen=True, slots=True)
class ConfusionLimits:
    """A change of a rate, as a share, 0..1."""

    cross_activation_change: float = 0.10
    min_cases: int = 5


@dataclass(frozen=True, slots=True)
class Regression:
    """From which difference to a baseline on a layer reports a regression."""

    effectiveness: EffectivenessLimits = EffectivenessLimits()
    activation: ActivationLimits = ActivationLimits()
    size_impact: SizeImpactLimits = SizeImpactLimits()
    confusion: ConfusionLimits = ConfusionLimits()


@dataclass(frozen=True, slots=True)
class Judging:
    """The settings of the judge."""

    orders: str = "both"
    """``both``: each pair twice, swapped; ``single``: once, in an order drawn by seed."""
    max_retries: int = 2
    """Further attempts, each with a stricter text, at a reply that is no valid verdict."""
    tie_band: float = 0.0
    """Score differences up to this are ties, in points of the 1..5 scale."""
    max_tokens: int = 4_096


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration of a run, before the options of the command line are applied."""

    provider: str = "anthropic"
    base_url: str | None = None
    """A server with the provider's API; None: from the environment, or the provider's own."""
    models: Models = Models()
    temperature: float = 0.0
    """0..2, as requested; a model profile decides whether it is sent."""
    max_tokens: int = 16_000
    """Most output tokens of a generation; current models count what they think against it."""
    runs: int = 1
    concurrency: int = 4
    """Requests in flight at a time, 1..64."""
    role: str | None = None
    """The fixed first sentence of every system text; None: ``conditions.prompts.DEFAULT_ROLE``."""
    chars_per_token: float = 4.0
    """For estimates; 3.6 fits English on newer tokenizers better (spec/evals.md 1.7)."""
    retry: RetryTimes = RetryTimes()
    cost: Cost = Cost()
    default_seed: int = 42
    """``rng.default_seed`` in the file."""
    paths: Paths = Paths()
    fail_fast: FailFast = FailFast()
    timeouts: Timeouts = Timeouts()
    regression: Regression = Regression()
    judging: Judging = Judging()
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))
    """What models take, by the beginning of their ids; goes before our own table
    (``models/profiles.py``, which checks it)."""
    path: str | None = None
    """The file this was read from; None: defaults alone."""

    def below(self, folder: str | os.PathLike[str]) -> Config:
        """Return the config with every relative path put below a folder."""
        home = os.fspath(folder)
        paths = {
            name: os.path.normpath(os.path.join(home, getattr(self.paths, name)))
            for name in Paths.__slots__
        }
        return replace(self, paths=Paths(**paths))
