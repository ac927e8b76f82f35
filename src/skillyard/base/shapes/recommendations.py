"""The documented answer of ``skill_evaluate``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Schema
from skillyard.base.shapes.encoder import ClientDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """One recommendation."""

    skillName: Annotated[str, "The skill."]  # noqa: N815  # the document's spelling
    confidence: Annotated[float, "0 to 1."]
    level: Annotated[str, "high, medium or low."]
    reason: Annotated[str, "What matched."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated(ClientDocument):
    """The documented answer of skill_evaluate."""

    schema: Schema[Literal["skillyard.evaluate/1"]] = "skillyard.evaluate/1"
    results: Annotated[tuple[Recommendation, ...], "Best first."]
    message: Annotated[str, "The same as Markdown."]
