"""The JSON Schema of every response, derived from the shapes."""

from __future__ import annotations

from skillyard.base.shapes.feedback import FeedbackReceipt
from skillyard.base.shapes.rankings import Ranked
from skillyard.base.shapes.reasons import Why
from skillyard.base.shapes.recommendations import Evaluated
from skillyard.base.shapes.selections import Selected
from skillyard.base.shapes.service import Error, Health, PublishedSkill, Root
from skillyard.base.shapes.skills import SearchResult
from skillyard.serve.runtime.schemas import Schema, components_of

_REFERENCE = "#/components/schemas/{name}"
_WELL_KNOWN: Schema = {
    "type": "object",
    "description": "The index of discovery draft 0.2.0.",
    "properties": {
        "$schema": {"type": "string", "description": "Which draft this follows."},
        "skills": {
            "type": "array",
            "items": {"$ref": _REFERENCE.format(name=PublishedSkill.__name__)},
            "description": "Every skill that may be fetched, by name.",
        },
    },
    "required": ["$schema", "skills"],
    "additionalProperties": False,
}
"""Written by hand, because no member of a class can be named ``$schema``."""


_SHAPES = (
    Error,
    Evaluated,
    FeedbackReceipt,
    Health,
    PublishedSkill,
    Ranked,
    Root,
    SearchResult,
    Selected,
    Why,
)

SCHEMAS = dict(
    sorted({**components_of(_SHAPES, _REFERENCE), "WellKnownIndex": _WELL_KNOWN}.items())
)
"""By the names that routes use."""
