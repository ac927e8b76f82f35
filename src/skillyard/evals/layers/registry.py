"""The table of evaluation layers. Runs, settings, commands and reports read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LayerEntry:
    """What is known of a layer; :func:`skillyard.evals.layers.work.load_layer` imports it."""

    name: str
    """``meta.eval_type`` of its results, and the beginning of their file names."""
    code: str
    """Its short name. Reports list the layers in the order of their codes."""
    question: str
    """For a heading and the help page."""
    method: str
    """How the question is answered, in a sentence."""
    cases: str
    """The field of ``paths`` in the configuration that names its case files."""
    options: tuple[str, ...]
    """The options of its command, beside those of every run
    (``cli/commands/evaluations.py``)."""
    examples: tuple[str, ...]
    implementation: str
    """``module:NAME`` of its :class:`~skillyard.evals.layers.work.Layer`."""

    @property
    def command(self) -> str:
        """The name of its command below ``eval``."""
        return self.name.replace("_", "-")

    @property
    def routes(self) -> bool:
        """True for a layer whose cases are answered by a router, which may be a scorer."""
        return "router" in self.options

    @property
    def decides(self) -> bool:
        """True for a layer that ends in a verdict on each skill: its prompts can be too few."""
        return "verdict" in self.options


_ENTRIES = (
    LayerEntry(
        name="activation",
        code="L3",
        question="Does the router pick the right skills, and none where none fits?",
        method="A router sees the index of all skills and a request, and picks the skills to use.",
        cases="activation",
        options=("skill", "in_skills", "router"),
        examples=(
            "skillyard eval run activation --root skills",
            "skillyard eval run activation --router model --model ID --max-cost 1",
        ),
        implementation="skillyard.evals.layers.activation:ACTIVATION",
    ),
    LayerEntry(
        name="effectiveness",
        code="L5",
        question="Are answers with a skill better than without, by a rubric?",
        method=(
            "A model answers each request with the skill and without it; a judge who does not know "
            "which is which scores both answers."
        ),
        cases="rubrics",
        options=("skill", "in_skills", "old", "agent", "judge", "verdict"),
        examples=(
            "skillyard eval run effectiveness --root skills --model ID --dry-run",
            "skillyard eval run effectiveness --root skills --model ID --old-version HEAD~1",
            "skillyard eval run effectiveness --root skills --model ID --max-cost 5 --format html",
        ),
        implementation="skillyard.evals.layers.pairs:EFFECTIVENESS",
    ),
    LayerEntry(
        name="size_impact",
        code="L6",
        question="Is the whole skill better than its summary, and than nothing?",
        method=(
            "A model answers each request with the full skill, with its summary and with nothing; "
            "a judge who does not know which is which scores the answers in pairs."
        ),
        cases="candidates",
        options=("skill", "in_skills", "judge", "verdict"),
        examples=(
            "skillyard eval run size-impact --root skills --model ID --dry-run",
            "skillyard eval run size-impact --root skills --replay --format html",
        ),
        implementation="skillyard.evals.layers.pairs:SIZE_IMPACT",
    ),
)
LAYERS: Mapping[str, LayerEntry] = {entry.name: entry for entry in _ENTRIES}
"""By name, in the order of the document (L3, L5, L6)."""
