"""Writes ``skillyard.toml``, for programs that are to ask the fake servers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def toml(sections: Mapping[str, Any]) -> str:
    """Return sections as TOML. A text of JSON is one of TOML too."""
    return "".join(
        f"[{name}]\n" + "".join(f"{json.dumps(key)} = {_value(keys[key])}\n" for key in keys)
        for name, keys in sections.items()
    )


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{json.dumps(key)} = {_value(item)}" for key, item in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(str(value) if isinstance(value, Path) else value)
