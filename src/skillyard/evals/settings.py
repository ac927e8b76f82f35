"""The settings of a run: the configuration with the options of the command line.

They are the first event of a run, so that it can be resumed and replayed with equal settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any, Literal

from skillyard.base.errors import InvalidInput
from skillyard.base.operation import Bounds
from skillyard.evals.conditions.prompts import DEFAULT_ROLE
from skillyard.evals.config_values import (
    CharsPerToken,
    Concurrency,
    Config,
    JudgeRetries,
    JudgeTokens,
    Orders,
    Points,
    Provider,
    Runs,
    Seed,
    Temperature,
    Tokens,
)
from skillyard.evals.fields import fault_of, hints_of
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.models.servers import address_of, server_of
from skillyard.evals.statistics.verdicts import MARGIN

MODEL = "model"
"""The router that is a model; every other name is a scorer's."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of one run."""

    eval_type: str
    provider: Provider = "anthropic"
    base_url: str | None = None
    host: str = ""
    """What identifies the server; part of every cache key."""
    model: str = ""
    judge_model: str = ""
    more_judges: tuple[str, ...] = ()
    router: str = "hybrid"
    index: Literal["group", "library"] = "group"
    """The skills that a router of L4 gets: those of the group, or all."""
    top_k: Annotated[int, Bounds(1, 100)] = 1
    """Most skills that a scorer picks."""
    min_score: Annotated[float | None, Bounds()] = None
    runs: Runs = 1
    seed: Seed = 42
    orders: Orders = "both"
    limit: Annotated[int | None, Bounds(1)] = None
    skill: str | None = None
    group: str | None = None
    temperature: Temperature = 0.0
    max_tokens: Tokens = 16_000
    role: str = DEFAULT_ROLE
    chars_per_token: CharsPerToken = 4.0
    tie_band: Points = 0.0
    margin: Points = MARGIN
    """Arms whose scores differ by less are equivalent."""
    until_decided: bool = False
    """Look at the results in between, and stop for a skill once its verdict is decided."""
    judge_retries: JudgeRetries = 2
    judge_tokens: JudgeTokens = 4_096
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))
    max_cost: Annotated[float | None, Bounds(0)] = None
    max_calls: Annotated[int | None, Bounds(0)] = None
    concurrency: Concurrency = 4

    @property
    def asks_models(self) -> bool:
        """False for a run whose router is one of our scorers."""
        return not LAYERS[self.eval_type].routes or self.router == MODEL

    @property
    def judge_models(self) -> tuple[str, ...]:
        """The judge, and the models to which its verdicts are compared."""
        return tuple(dict.fromkeys((self.judge_model, *self.more_judges)))

    @classmethod
    def of(cls, eval_type: str, config: Config, overrides: Mapping[str, Any]) -> RunSettings:
        """Return the settings of the configuration, with the overrides that are not None.

        Raises InvalidInput for a value that no run can have.
        """
        own = cls(
            eval_type=eval_type,
            provider=config.provider,
            base_url=config.base_url,
            model=config.models.generation,
            judge_model=config.models.judge or config.models.generation,
            more_judges=config.models.more_judges,
            runs=config.runs,
            seed=config.default_seed,
            orders=config.judging.orders,
            temperature=config.temperature,
            max_tokens=config.max_tokens,
            role=config.role or DEFAULT_ROLE,
            chars_per_token=config.chars_per_token,
            tie_band=config.judging.tie_band,
            margin=config.judging.margin,
            judge_retries=config.judging.max_retries,
            judge_tokens=config.judging.max_tokens,
            profiles=config.profiles,
            max_cost=config.cost.max_cost_per_run,
            max_calls=config.cost.max_calls_per_run,
            concurrency=config.concurrency,
        )
        values = {name: value for name, value in overrides.items() if value is not None}
        if "model" in values and "judge_model" not in values and not config.models.judge:
            values["judge_model"] = values["model"]
        settings = replace(own, **values)
        return settings.with_server().check_ranges()

    def with_server(self) -> RunSettings:
        """Return these settings for the server that a call would reach now."""
        address = address_of(self.provider, self.base_url)
        return replace(self, host=server_of(self.provider, address))

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> RunSettings:
        """Return the settings that :meth:`to_dict` gave. Raises InvalidInput for anything else."""
        unknown = next((name for name in value if name not in hints_of(cls)), None)
        if unknown is not None:
            raise InvalidInput(f"the run was begun by another version: unknown setting {unknown!r}")
        if "eval_type" not in value:
            raise InvalidInput("the settings of the run are damaged: no eval_type")
        judges = value.get("more_judges", ())
        return cls(
            **{**value, "more_judges": tuple(judges) if isinstance(judges, list) else judges}
        ).check_ranges()

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON."""
        fields_ = asdict(replace(self, profiles={}))
        profiles = {prefix: dict(overrides) for prefix, overrides in self.profiles.items()}
        return {**fields_, "more_judges": list(self.more_judges), "profiles": profiles}

    def check_ranges(self) -> RunSettings:
        """Return these settings. Raises InvalidInput where one has a value that it cannot have."""
        for name, hint in hints_of(RunSettings).items():
            fault = fault_of(getattr(self, name), hint)
            if fault is not None:
                raise InvalidInput(f"{name} {fault.message}; {fault.hint}")
        if self.eval_type not in LAYERS:
            raise InvalidInput(f"eval_type must be one of {', '.join(LAYERS)}")
        return self

    def require_models(self) -> None:
        """Raise InvalidInput when a model that the run needs is not configured."""
        if not self.asks_models:
            return
        for name, flag, place in (
            ("model", "--model", "models.generation"),
            ("judge_model", "--judge-model", "models.judge"),
        ):
            if not getattr(self, name):
                raise InvalidInput(
                    f"no {name} is set; give {flag}, or {place} in [eval] of skillyard.toml"
                )
