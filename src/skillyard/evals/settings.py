"""The settings of a run: the configuration with the options of the command line.

They are the first event of a run, so that it can be resumed and replayed with equal settings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from skillyard.base.errors import InvalidInput
from skillyard.base.operation import Bounds
from skillyard.base.strict_toml import number_fault
from skillyard.evals.cases.reading import STRICT
from skillyard.evals.conditions.arms import DEFAULT_ROLE
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
    Seconds,
    Seed,
    Temperature,
    Tokens,
)
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.models.servers import address_of, server_of
from skillyard.evals.statistics.intervals import MARGIN

_MOST = 1_000_000_000
"""The largest number that has no natural one, because stored settings are not trusted."""
MODEL = "model"
"""The router that is a model; every other name is a scorer's."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of one run."""

    __pydantic_config__ = STRICT

    eval_type: str
    provider: Provider = "anthropic"
    base_url: str | None = None
    host: str = ""
    """What identifies the server; part of every cache key."""
    model: str = ""
    judge_model: str = ""
    router: str = "hybrid"
    top_k: Annotated[int, Bounds(1, 100)] = 1
    """Most skills that a scorer picks."""
    min_score: Annotated[float | None, Bounds(-_MOST, _MOST)] = None
    runs: Runs = 1
    seed: Seed = 42
    orders: Orders = "both"
    limit: Annotated[int | None, Bounds(1, _MOST)] = None
    old_version: str | None = None
    """A commit or a folder: skills are compared with what they were there, not with no skill."""
    sandbox: str | None = None
    """Where agents work, ``docker`` or ``local``; None: a model answers without tools."""
    skill: str | None = None
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
    timeout_s: Seconds = None
    """Of a request; None: by its ``max_tokens``."""
    profiles: dict[str, dict[str, Any]] = field(default_factory=dict)
    max_cost: Annotated[float | None, Bounds(0, _MOST)] = None
    max_calls: Annotated[int | None, Bounds(0, _MOST)] = None
    concurrency: Concurrency = 4

    @property
    def asks_models(self) -> bool:
        """False for a run whose router is one of our scorers."""
        return not LAYERS[self.eval_type].routes or self.router == MODEL

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
            timeout_s=config.timeout_s,
            profiles={each: dict(known) for each, known in config.profiles.items()},
            max_cost=config.cost.max_cost_per_run,
            max_calls=config.cost.max_calls_per_run,
            concurrency=config.concurrency,
        )
        values = {name: value for name, value in overrides.items() if value is not None}
        if "model" in values and "judge_model" not in values and not config.models.judge:
            values["judge_model"] = values["model"]
        return cls.from_dict({**own.to_dict(), **values}).with_server()

    def with_server(self) -> RunSettings:
        """Return these settings for the server that a call would reach now."""
        address = address_of(self.provider, self.base_url)
        return replace(self, host=server_of(self.provider, address))

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> RunSettings:
        """Return the settings that :meth:`to_dict` gave. Raises InvalidInput for anything else."""
        if value.get("eval_type") not in tuple(LAYERS):  # it may be unhashable
            raise InvalidInput(f"eval_type should be one of {', '.join(LAYERS)}")
        try:
            # From JSON, because there a list is a tuple, also strictly.
            return TypeAdapter(cls).validate_json(json.dumps(value), strict=True)._in_range()
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
        name = ".".join(map(str, fault["loc"]))
        if fault["type"] == "unexpected_keyword_argument":
            raise InvalidInput(f"the run was begun by another version: unknown setting {name!r}")
        raise InvalidInput(f"{name} should {fault['msg'].partition('should ')[2]}")

    def _in_range(self) -> RunSettings:
        for name, hint in get_type_hints(type(self), include_extras=True).items():
            value = getattr(self, name)
            for bounds in getattr(hint, "__metadata__", ()):
                if isinstance(bounds, Bounds) and value is not None:
                    fault = number_fault(value, bounds)
                    if fault:
                        raise InvalidInput(f"{name} {fault}")
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON."""
        return asdict(self)

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
