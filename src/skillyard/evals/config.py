"""Reads ``config.yaml`` into a :class:`Config` (spec/evals.md 1.4); each error has its line.

Keys of providers come from the environment. A file that contains one is refused, and its value is
never shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from skillyard.errors import Diagnostic, SkillError
from skillyard.evals.cases.dataset import FILE_BYTES
from skillyard.evals.cases.parser import yaml_record
from skillyard.evals.cases.records import Located, Notes, Record
from skillyard.evals.config_values import (
    ORDERS,
    ActivationLimits,
    Config,
    ConfusionLimits,
    Cost,
    EffectivenessLimits,
    FailFast,
    Judging,
    Models,
    Paths,
    Regression,
    RetryTimes,
    SizeImpactLimits,
    Timeouts,
)
from skillyard.evals.models.factory import PROVIDERS
from skillyard.formats.frontmatter import decode, unify_lines
from skillyard.resources import read_file

__all__ = [
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
    "read_config",
]


def read_config(path: str | os.PathLike[str]) -> tuple[Config | None, tuple[Diagnostic, ...]]:
    """Read a ``config.yaml``. Missing fields have their defaults.

    All errors are reported with their lines; with an error the config is None. If the file contains
    a credential, only that is reported. Paths are resolved against the file's folder. An unknown
    field is an error that names the nearest known one.
    """
    name = os.fspath(path)
    notes = Notes(name)
    try:
        text = unify_lines(decode(read_file(name, FILE_BYTES).data, name))
    except SkillError as error:
        return None, (error.diagnostic(),)
    record = yaml_record(text, notes) if _has_content(text) else Record({}, 1, notes)
    if record is None:  # a line that is no YAML may hold a key: it is not shown
        return None, tuple(each._replace(found="") for each in notes.diagnostics)
    for where, line in _secrets(Located({key: _field(record, key) for key in record.fields()}, 1)):
        notes.error(
            "config_secret",
            line,
            f"{where} looks like a credential",
            "remove it from the file (and change the key if others could read it): keys come from "
            "the environment, ANTHROPIC_API_KEY or OPENAI_API_KEY",
        )
    if notes.errors:
        return None, tuple(notes.diagnostics)
    config = _config(record)
    if notes.errors:
        return None, tuple(notes.diagnostics)
    relative_to_file = config.below(os.path.dirname(name) or ".")
    return replace(relative_to_file, path=name), tuple(notes.diagnostics)


def _has_content(text: str) -> bool:
    """False for a file of blank lines and comments, which keeps every default."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.split("\n"))


def _field(record: Record, name: str) -> Located:
    return Located(record.raw(name), record.line_of(name))


_SECRET_FIELD = re.compile(
    r"(?:.*_)?(?:key|keys|apikey|apikeys|token|auth)"
    r"|.*(?:secret|password|passwd|passphrase|credential|authorization|bearer).*"
)
_NO_SECRETS = frozenset(["chars_per_token"])
_SECRET_VALUE = re.compile(r"\s*(?:Bearer\s+\S|sk-[A-Za-z0-9]|sk_[A-Za-z0-9])", re.IGNORECASE)


def _secrets(node: Located, where: str = "") -> Iterator[tuple[str, int | None]]:
    """Yield the name and line of every field that is called like a key, or holds one."""
    if isinstance(node.value, dict):
        for name, below in node.value.items():
            inner = f"{where}.{name}" if where else name
            plain = re.sub(r"[-\s.]", "_", name).lower()
            if plain not in _NO_SECRETS and _SECRET_FIELD.fullmatch(plain):
                yield inner, below.line
            else:
                yield from _secrets(below, inner)
    elif isinstance(node.value, list):
        for number, item in enumerate(node.value):
            yield from _secrets(item, f"{where}[{number}]")
    elif isinstance(node.value, str) and _SECRET_VALUE.match(node.value):
        yield where, node.line


FieldReader = Callable[[Record, str, Any], Any]
"""A reader: takes a record, a field name and the default, and returns the value."""


def _text(record: Record, name: str, default: str) -> str:
    return record.some_text(name) or default if name in record else default


def _choice(record: Record, name: str, default: str, choices: tuple[str, ...]) -> str:
    value = record.text(name, default)
    if value not in choices:
        record.wrong(name, "is not known", f"write {' or '.join(choices)}", value)
    return value


def _flag(record: Record, name: str, default: bool) -> bool:
    return bool(record.flag(name, default))


def _number(
    record: Record,
    name: str,
    default: Any,
    low: float,
    high: float,
    whole: bool = False,
    above: bool = False,
    absent: bool = False,
) -> Any:
    """Read a number; with ``absent``, null means that there is no limit."""
    if name in record and record.raw(name) is None:
        if absent:
            return None
        record.required(name)
        return default
    value = record.number(name, default, low=low, high=high, whole=whole, above=above)
    return value if whole or value is None else float(value)


def _count(low: int, high: int) -> FieldReader:
    return partial(_number, low=low, high=high, whole=True)


_SHARE = partial(_number, low=0, high=1)
_POINTS = partial(_number, low=0, high=4)
_SECONDS = partial(_number, low=0, high=3_600, above=True)
_CASES = _count(1, 1_000_000)

# One reader for each field of each section; the defaults are those of the dataclasses.
_SECTIONS: dict[type, dict[str, FieldReader]] = {
    Models: {
        "generation": _text,
        "judge": _text,
        "more_judges": lambda record, name, default: record.texts(name),
    },
    RetryTimes: {
        "max_retries": _count(0, 10),
        "base_s": partial(_number, low=0, high=60),
        "jitter": _SHARE,
    },
    Cost: {
        "max_cost_per_run": partial(_number, low=0, high=100_000, absent=True),
        "max_calls_per_run": partial(_number, low=1, high=10_000_000, whole=True, absent=True),
    },
    Paths: dict.fromkeys(Paths.__slots__, _text),
    FailFast: {"enabled": _flag, "consecutive": _count(2, 1_000)},
    Timeouts: dict.fromkeys(Timeouts.__slots__, _SECONDS),
    EffectivenessLimits: {
        "mean_drop": _POINTS,
        "stddev_multiplier": partial(_number, low=0, high=100),
        "min_cases": _CASES,
    },
    ActivationLimits: {"tpr_drop": _SHARE, "fpr_increase": _SHARE, "min_cases": _CASES},
    SizeImpactLimits: {"score_change": _POINTS, "min_cases": _CASES},
    ConfusionLimits: {"cross_activation_change": _SHARE, "min_cases": _CASES},
    Judging: {
        "orders": partial(_choice, choices=ORDERS),
        "max_retries": _count(0, 10),
        "tie_band": _POINTS,
        "max_tokens": _count(256, 1_000_000),
    },
}
_TOP: dict[str, FieldReader] = {
    "provider": partial(_choice, choices=PROVIDERS),
    "temperature": partial(_number, low=0, high=2),
    "max_tokens": _count(1, 1_000_000),
    "runs": _count(1, 1_000),
    "concurrency": _count(1, 64),
    "chars_per_token": partial(_number, low=1, high=20),
}
_GROUPS: dict[str, type] = {
    "models": Models,
    "retry": RetryTimes,
    "cost": Cost,
    "paths": Paths,
    "fail_fast": FailFast,
    "timeouts": Timeouts,
    "judging": Judging,
}
_REGRESSION: dict[str, type] = {
    "effectiveness": EffectivenessLimits,
    "activation": ActivationLimits,
    "size_impact": SizeImpactLimits,
    "confusion": ConfusionLimits,
}


def _config(record: Record) -> Config:
    record.only([*_TOP, *_GROUPS, "base_url", "role", "rng", "regression", "profiles"])
    plain = {name: reader(record, name, getattr(Config(), name)) for name, reader in _TOP.items()}
    groups = {name: _section(record.record(name), cls) for name, cls in _GROUPS.items()}
    return Config(
        **plain,
        **groups,
        base_url=_base_url(record),
        role=record.text("role") or None,
        default_seed=_seed(record.record("rng")),
        regression=_regression(record.record("regression")),
        profiles=_profiles(record.record("profiles")),
    )


def _section(record: Record | None, cls: type) -> Any:
    """Return the section as its dataclass, with defaults for missing fields."""
    defaults = cls()
    if record is None:
        return defaults
    readers = _SECTIONS[cls]
    record.only(readers)
    return cls(
        **{name: reader(record, name, getattr(defaults, name)) for name, reader in readers.items()}
    )


def _regression(record: Record | None) -> Regression:
    if record is None:
        return Regression()
    record.only(_REGRESSION)
    return Regression(
        **{name: _section(record.record(name), cls) for name, cls in _REGRESSION.items()}
    )


def _seed(record: Record | None) -> int:
    default = Config().default_seed
    if record is None:
        return default
    record.only(["default_seed"])
    return int(_number(record, "default_seed", default, 0, 2**63 - 1, whole=True))


def _base_url(record: Record) -> str | None:
    """Return the address of a server; http and https alone, and no credentials in it."""
    value = record.text("base_url")
    if not value:
        return None
    try:
        parts = urlsplit(value)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        record.wrong("base_url", "is no address", "write http://host:port or https://host", value)
    elif "@" in parts.netloc or parts.query or parts.fragment:
        record.wrong(
            "base_url",
            "holds more than scheme, host, port and path",
            "leave out user, password, query and fragment: keys come from the environment",
        )
    return value


def _profiles(record: Record | None) -> Mapping[str, Mapping[str, Any]]:
    """Return the overrides as plain values, by the beginning of a model id."""
    if record is None:
        return MappingProxyType({})
    profiles: dict[str, Mapping[str, Any]] = {}
    for prefix in record.fields():
        inner = record.record(prefix)
        if inner is not None:
            values = {name: _unlocated(_field(inner, name)) for name in inner.fields()}
            profiles[prefix] = MappingProxyType(values)
    return MappingProxyType(profiles)


def _unlocated(node: Located) -> Any:
    if isinstance(node.value, list):
        return tuple(_unlocated(item) for item in node.value)
    if isinstance(node.value, dict):
        return MappingProxyType({key: _unlocated(item) for key, item in node.value.items()})
    return node.value
