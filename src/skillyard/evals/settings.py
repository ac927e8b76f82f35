"""The section ``[eval]`` of ``skillyard.toml`` with all defaults, and the settings of a run.

The settings are the configuration with the options of the command line (spec/evals.md 1.4). They
are the first event of a run, so that it can be resumed and replayed with equal settings.

Keys of providers come from the environment. A text that looks like one is refused and never shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Literal

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.base.operation import Bounds
from skillyard.base.strict_toml import NO_FILE, NOT_BLANK, USER_ONLY, SomeText, read_record
from skillyard.evals.arms import DEFAULT_ROLE
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.models.calls import RetryTimes
from skillyard.evals.models.providers import address_of, checked_address, server_of
from skillyard.evals.statistics.intervals import MARGIN

MODEL = "model"
"""The router that is a model; every other name is a scorer's."""
_MOST = 1_000_000_000
"""The largest number that has no natural one, because stored settings are not trusted."""
_RETRY_TIMES = RetryTimes()
_SECRET = re.compile(r"\s*(?:Bearer\s+\S|sk-[A-Za-z0-9]|sk_[A-Za-z0-9])", re.IGNORECASE)


def _no_secret(text: str) -> str:
    if _SECRET.match(text):
        raise InvalidInput(
            "looks like a credential; remove it (and change the key if others could read it): keys"
            " come from the environment, ANTHROPIC_API_KEY or OPENAI_API_KEY"
        )
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
    """A drop is also above so many standard deviations of the baseline."""
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
    base_url: Annotated[str | None, checked_address, USER_ONLY] = None
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
    retry: RetryTimes = _RETRY_TIMES
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


@dataclass(frozen=True, slots=True)
class RunSettings(RunValues):
    """The settings of one run."""

    eval_type: str = ""
    host: str = ""
    """What identifies the server; part of every cache key."""
    model: Annotated[str, _no_secret] = ""
    judge_model: Annotated[str, _no_secret] = ""
    router: str = "hybrid"
    top_k: Annotated[int, Bounds(1, 100)] = 1
    """Most skills that a scorer picks."""
    min_score: Annotated[float | None, Bounds(-_MOST, _MOST)] = None
    seed: Seed = 42
    orders: Orders = "both"
    limit: Annotated[int | None, Bounds(1, _MOST)] = None
    old_version: str | None = None
    """A commit or a folder: skills are compared with what they were there, not with no skill."""
    sandbox: str | None = None
    """Where agents work, ``docker`` or ``local``; None: a model answers without tools."""
    skill: str | None = None
    tie_band: Points = 0.0
    margin: Points = MARGIN
    """Arms whose scores differ by less are equivalent."""
    until_decided: bool = False
    """Look at the results in between, and stop for a skill once its verdict is decided."""
    judge_retries: JudgeRetries = 2
    judge_tokens: JudgeTokens = 4_096
    max_cost: Annotated[float | None, Bounds(0, _MOST)] = None
    max_calls: Annotated[int | None, Bounds(0, _MOST)] = None

    @property
    def asks_models(self) -> bool:
        """False for a run whose router is one of our scorers."""
        return not LAYERS[self.eval_type].routes or self.router == MODEL

    @classmethod
    def of(cls, eval_type: str, config: Config, overrides: Mapping[str, Any]) -> RunSettings:
        """Return the settings of the configuration, with the overrides that are not None.

        Raises InvalidInput for a value that no run can have.
        """
        models, judging = config.models, config.judging
        values = {
            **{each.name: getattr(config, each.name) for each in fields(RunValues)},
            "eval_type": eval_type,
            "model": models.generation,
            "judge_model": models.judge or overrides.get("model") or models.generation,
            "seed": config.default_seed,
            **{name: getattr(judging, name) for name in ("orders", "tie_band", "margin")},
            "judge_retries": judging.max_retries,
            "judge_tokens": judging.max_tokens,
            "max_cost": config.cost.max_cost_per_run,
            "max_calls": config.cost.max_calls_per_run,
        }
        changes = {name: value for name, value in overrides.items() if value is not None}
        return cls.from_dict({**values, **changes}).with_server()

    def with_server(self) -> RunSettings:
        """Return these settings for the server that a call would reach now."""
        address = address_of(self.provider, self.base_url)
        return replace(self, host=server_of(self.provider, address))

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> RunSettings:
        """Return the settings of an earlier run. Raises InvalidInput for anything else."""
        if value.get("eval_type") not in tuple(LAYERS):  # it may be unhashable
            raise InvalidInput(f"eval_type should be one of {', '.join(LAYERS)}")
        values = {name: each for name, each in value.items() if each is not None}
        try:
            return read_record(cls, [(NO_FILE, values)])
        except SkillIoError as error:
            raise InvalidInput(error.message) from None

    def require_models(self) -> None:
        """Raise InvalidInput when the run needs a model and has none. It judges too, by default."""
        if self.asks_models and not self.model:
            why = "no model is set; give --model, or [eval.models] generation in skillyard.toml"
            raise InvalidInput(f"{why} (`skillyard eval init` writes one)")


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """The options of a run beside its cases."""

    evals_dir: str = "evals"
    paths: Sequence[str] = ()
    """Case files, instead of those that the configuration names."""
    in_skills: bool = False
    """Read the cases that lie in the skills' own ``evals`` folders."""
    results: str | None = None
    """Where results and everything kept lie, instead of the configured folder."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Settings by name that override the configuration; None when not given."""
    resume: str | None = None
    """A run whose settings are taken over."""
    replay: bool = False
    regenerate: bool = False
    rejudge: bool = False
    allow_scripts: bool = False
    """Run the scripts of checks."""
    anyway: bool = False
    """Pay for a run although its prompts are too few for any verdict."""
