"""What models are sent, from ``data/prompts.toml``."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

_FILE = files(__package__).joinpath("data", "prompts.toml")
PROMPTS: dict[str, dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
"""By who is asked."""
