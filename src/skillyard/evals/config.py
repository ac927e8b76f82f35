"""Reads ``config.yaml`` into a :class:`Config` (spec/evals.md 1.4); each error has its line.

Keys of providers come from the environment. A file that contains one is refused, and its value is
never shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from skillyard.base.errors import Diagnostic, SkillError
from skillyard.engine.formats.frontmatter import decode, unify_lines
from skillyard.engine.resources import read_file
from skillyard.evals.cases.dataset import FILE_BYTES
from skillyard.evals.cases.parser import yaml_record
from skillyard.evals.cases.records import LocatedValue, Notes, Record, plain
from skillyard.evals.config_values import Config, Seed
from skillyard.evals.models.servers import NO_ADDRESS, address_fault


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
    for where, line in _secrets(LocatedValue(record.fields, 1)):
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
    return config.below(os.path.dirname(name) or "."), tuple(notes.diagnostics)


def _has_content(text: str) -> bool:
    """False for a file of blank lines and comments, which keeps every default."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.split("\n"))


_SECRET_FIELD = re.compile(
    r"(?:.*_)?(?:key|keys|apikey|apikeys|token|auth)"
    r"|.*(?:secret|password|passwd|passphrase|credential|authorization|bearer).*"
)
_NO_SECRETS = frozenset(["chars_per_token"])
_SECRET_VALUE = re.compile(r"\s*(?:Bearer\s+\S|sk-[A-Za-z0-9]|sk_[A-Za-z0-9])", re.IGNORECASE)


def _secrets(node: LocatedValue, where: str = "") -> Iterator[tuple[str, int | None]]:
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


@dataclass(frozen=True, slots=True)
class _Random:
    """The section ``rng`` of the file."""

    default_seed: Seed = Config().default_seed


def _config(record: Record) -> Config:
    config = record.read(
        Config,
        also=("rng", "profiles"),
        default_seed=record.value("rng", _Random, _Random()).default_seed,
        profiles=_profiles(record),
        path=record.notes.path,
    )
    _check_address(config.base_url, record)
    return config


def _check_address(url: str | None, record: Record) -> None:
    """Note an address that is not of http or https, or that holds credentials."""
    fault = "" if url is None else address_fault(url)
    if fault == NO_ADDRESS:
        record.wrong("base_url", fault, "write http://host:port or https://host", url)
    elif fault:
        hint = "leave out user, password, query and fragment: keys come from the environment"
        record.wrong("base_url", fault, hint)


def _profiles(record: Record) -> Mapping[str, Mapping[str, Any]]:
    """Return the overrides as plain values, by the beginning of a model id."""
    profiles = record.record("profiles") or Record({}, None, record.notes)
    sections = {prefix: profiles.record(prefix) for prefix in profiles.fields}
    values = {prefix: plain(each.fields) for prefix, each in sections.items() if each is not None}
    return MappingProxyType({prefix: MappingProxyType(each) for prefix, each in values.items()})
