"""Writes ``skillyard.toml`` of the user of a test."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from skillyard_testkit import toml


def configure(monkeypatch: pytest.MonkeyPatch, folder: Path, **sections: Mapping[str, Any]) -> Path:
    """Add keys to the user's file, which is begun below a folder, and return its path."""
    named = os.environ.get("SKILLYARD_CONFIG")
    path = Path(named) if named else folder / "config" / "skillyard.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for name, keys in sections.items():
        tables.setdefault(name, {}).update(keys)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")  # another file: one of the same time and size counts as read
    new.write_text(toml(tables), encoding="utf-8")
    new.replace(path)
    monkeypatch.setenv("SKILLYARD_CONFIG", str(path))
    return path
