"""The settings of a run: the configuration with the options of the command line.

They are the first event of a run, so that it can be resumed and replayed with equal settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, get_args, get_origin, get_type_hints

from skillyard.errors import InvalidInput
from skillyard.evals.conditions.prompts import DEFAULT_ROLE
from skillyard.evals.config_values import ORDERS, Config
from skillyard.evals.models.parameters import ADDRESSES, address_of, hostname
from skillyard.evals.storage.results import EVAL_TYPES

__all__ = ["INDEXES", "ROUTED", "RunSettings"]

INDEXES = ("group", "library")
"""The skills that a router of L4 gets: those of the group, or all."""
ROUTED = ("activation", "confusion")
"""The layers that ask who is picked; the others compare answers."""
MODEL = "model"
"""The router that is a model; every other name is a scorer's."""
MAX_RUNS = 1_000
_MAX_NUMBER = 1_000_000_000
"""Maximum of caps, limits and floors, because stored settings are not trusted."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of one run. Numbers have the ranges of the configuration file."""

    eval_type: str
    provider: str = "anthropic"
    base_url: str | None = None
    host: str = ""
    """The host of the server, without its port; part of every cache key."""
    model: str = ""
    judge_model: str = ""
    more_judges: tuple[str, ...] = ()
    router: str = "hybrid"
    index: str = "group"
    top_k: int = 1
    """Most skills that a scorer picks."""
    min_score: float | None = None
    runs: int = 1
    seed: int = 42
    orders: str = "both"
    limit: int | None = None
    skill: str | None = None
    group: str | None = None
    temperature: float = 0.0
    max_tokens: int = 16_000
    role: str = DEFAULT_ROLE
    chars_per_token: float = 4.0
    tie_band: float = 0.0
    judge_retries: int = 2
    judge_tokens: int = 4_096
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))
    max_cost: float | None = None
    max_calls: int | None = None
    concurrency: int = 4

    @property
    def asks_models(self) -> bool:
        """False for a run whose router is one of our scorers."""
        return self.eval_type not in ROUTED or self.router == MODEL

    @property
    def judge_models(self) -> tuple[str, ...]:
        """The judge, and the models to which its verdicts are compared."""
        return tuple(dict.fromkeys((self.judge_model, *self.more_judges)))

    @classmethod
    def of(cls, eval_type: str, config: Config, overrides: Mapping[str, Any]) -> RunSettings:
        """Return the settings: ``given`` by field where it is not None, else the configuration's.

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
        host = hostname(address_of(settings.provider, settings.base_url))
        return replace(settings, host=settings.host or host).check_ranges()

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> RunSettings:
        """Return the settings that :meth:`to_dict` gave. Raises InvalidInput for anything else."""
        hints = get_type_hints(cls)
        names = {each.name for each in fields(cls)}
        values: dict[str, Any] = {}
        for name, field_value in value.items():
            if name not in names:
                raise InvalidInput(
                    f"the run was begun by another version: unknown setting {name!r}"
                )
            is_list = name == "more_judges" and isinstance(field_value, list)
            values[name] = tuple(field_value) if is_list else field_value
            if not _of_type(values[name], hints[name]):
                raise InvalidInput(
                    f"the settings of the run are damaged: {name} is {field_value!r:.60}"
                )
        if "eval_type" not in values:
            raise InvalidInput("the settings of the run are damaged: no eval_type")
        return cls(**values).check_ranges()

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON."""
        fields_ = asdict(replace(self, profiles={}))
        profiles = {prefix: dict(overrides) for prefix, overrides in self.profiles.items()}
        return {**fields_, "more_judges": list(self.more_judges), "profiles": profiles}

    def check_ranges(self) -> RunSettings:
        """Return these settings. Raises InvalidInput where one is out of its range."""
        for name, known in (
            ("eval_type", EVAL_TYPES),
            ("provider", tuple(sorted(ADDRESSES))),
            ("orders", ORDERS),
            ("index", INDEXES),
        ):
            if getattr(self, name) not in known:
                raise InvalidInput(f"{name} must be one of {', '.join(known)}")
        for name, low, high in (
            ("runs", 1, MAX_RUNS),
            ("concurrency", 1, 64),
            ("top_k", 1, 100),
            ("max_tokens", 1, 1_000_000),
            ("judge_tokens", 256, 1_000_000),
            ("judge_retries", 0, 10),
            ("seed", 0, 2**63 - 1),
            ("temperature", 0, 2),
            ("chars_per_token", 1, 20),
        ):
            if not low <= getattr(self, name) <= high:
                raise InvalidInput(f"{name} must be {low:,} to {high:,}")
        for name, least in (("limit", 1), ("max_calls", 0), ("max_cost", 0), ("tie_band", 0)):
            value = getattr(self, name)
            if value is not None and not least <= value <= _MAX_NUMBER:
                raise InvalidInput(f"{name} must be {least} or more")
        if self.min_score is not None and not abs(self.min_score) <= _MAX_NUMBER:
            raise InvalidInput("min_score must be a number")
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
                raise InvalidInput(f"no {name} is set; give {flag}, or {place} in config.yaml")


def _of_type(value: Any, hint: Any) -> bool:
    options = get_args(hint) if type(None) in get_args(hint) else (hint,)
    return any(_is(value, option) for option in options)


def _is(value: Any, option: Any) -> bool:
    if option is type(None):
        return value is None
    if option is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if option is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if option is str:
        return isinstance(value, str)
    if get_origin(option) is tuple:
        return isinstance(value, tuple) and all(isinstance(each, str) for each in value)
    return isinstance(value, Mapping) and all(isinstance(each, Mapping) for each in value.values())
