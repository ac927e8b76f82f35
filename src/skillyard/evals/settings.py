"""The settings of a run: the configuration with the options of the command line.

They are the first event of a run, so that it can be resumed and replayed with equal settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.base.operation import Bounds
from skillyard.base.strict_toml import NO_FILE, read_record
from skillyard.evals.config_values import (
    Config,
    JudgeRetries,
    JudgeTokens,
    Orders,
    Points,
    RunValues,
    Seed,
)
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.models.providers import address_of, server_of
from skillyard.evals.statistics.intervals import MARGIN

_MOST = 1_000_000_000
"""The largest number that has no natural one, because stored settings are not trusted."""
MODEL = "model"
"""The router that is a model; every other name is a scorer's."""


@dataclass(frozen=True, slots=True)
class RunSettings(RunValues):
    """The settings of one run."""

    eval_type: str = ""
    host: str = ""
    """What identifies the server; part of every cache key."""
    model: str = ""
    judge_model: str = ""
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
            "orders": judging.orders,
            "tie_band": judging.tie_band,
            "margin": judging.margin,
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
        """Return the settings that :meth:`to_dict` gave. Raises InvalidInput for anything else."""
        if value.get("eval_type") not in tuple(LAYERS):  # it may be unhashable
            raise InvalidInput(f"eval_type should be one of {', '.join(LAYERS)}")
        values = {name: each for name, each in value.items() if each is not None}
        try:
            return read_record(cls, [(NO_FILE, values)])
        except SkillIoError as error:
            raise InvalidInput(error.message) from None

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON."""
        return asdict(self)

    def require_models(self) -> None:
        """Raise InvalidInput when a model that the run needs is not configured."""
        for name, flag, place in (
            ("model", "--model", "models.generation"),
            ("judge_model", "--judge-model", "models.judge"),
        ):
            if self.asks_models and not getattr(self, name):
                raise InvalidInput(
                    f"no {name} is set; give {flag}, or {place} in [eval] of skillyard.toml"
                )
