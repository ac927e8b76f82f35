"""The names and the order of the four layers in a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from skillyard.evals.report.values import at, word

__all__ = ["LAYERS", "Layer", "layer_of", "ordered"]


class Layer(NamedTuple):
    """One kind of evaluation."""

    eval_type: str
    code: str
    name: str
    question: str
    method: str
    """A sentence that describes the method."""


_ALL = (
    Layer(
        "activation",
        "L3",
        "activation",
        "Does it fire?",
        "A router sees the index of all skills and a request, and picks the skills to use.",
    ),
    Layer(
        "confusion",
        "L4",
        "confusion",
        "Is it told apart?",
        "A router picks among a few similar skills; each request belongs to one of them.",
    ),
    Layer(
        "effectiveness",
        "L5",
        "effectiveness",
        "Does it help?",
        "A model answers each request with the skill and without it; a judge who does not know "
        "which is which scores both answers.",
    ),
    Layer(
        "size_impact",
        "L6",
        "size impact",
        "Is it worth its tokens?",
        "A model answers each request with the full skill, with its summary and with nothing; a "
        "judge who does not know which is which scores the answers in pairs.",
    ),
)
LAYERS: Mapping[str, Layer] = {layer.eval_type: layer for layer in _ALL}
"""``meta.eval_type`` -> how a report calls it."""


def layer_of(envelope: Mapping[str, object]) -> Layer:
    """Return the layer of an envelope; an unknown type is shown by its own word."""
    eval_type = word(at(envelope, "meta", "eval_type"))
    layer = LAYERS.get(eval_type)
    if layer is not None:
        return layer
    name = eval_type or "unnamed"
    return Layer(
        eval_type, "L?", name, "An evaluation of a kind that this report does not know.", ""
    )


def ordered(envelopes: Iterable[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """Return envelopes from L3 to L6, the unknown last; within a layer by time, then run id."""

    def place(envelope: Mapping[str, object]) -> tuple[str, str, str]:
        meta = envelope.get("meta")
        return layer_of(envelope).code, word(at(meta, "timestamp")), word(at(meta, "run_id"))

    return sorted(envelopes, key=place)
