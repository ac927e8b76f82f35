"""The results of one run, as reports read them: its layer, its cases, and the state of each case.

The state of a case is scored, passed, failed, error, skipped or unscored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from skillyard.evals.layers.protocol import load_layer
from skillyard.evals.layers.registry import LAYERS, LayerEntry
from skillyard.evals.report.layer_view import LayerView
from skillyard.evals.report.values import Json

State: TypeAlias = Literal["scored", "passed", "failed", "error", "skipped", "unscored"]
_BACKENDS = {
    "live": "a live model",
    "replay": "stored answers of an earlier run",
    "fake": "a stand-in server, not a model",
    "none": "skillyard’s own scorer",
}


class Results(Json):
    """The results of one run."""

    __slots__ = ("cases", "is_fake", "layer")

    def __init__(self, envelope: object) -> None:
        super().__init__(envelope)
        self.layer = layer_of(self.text("meta", "eval_type"))
        self.cases = self.rows("cases")
        self.is_fake = self.text("meta", "backend") == "fake"
        """True for the results of a stand-in server."""

    @property
    def name(self) -> str:
        """The code and the title of the layer."""
        return f"{self.layer.code} {self.layer.title}"

    @property
    def answered_by(self) -> str:
        """Who answered, in words."""
        name = self.text("meta", "backend")
        return _BACKENDS.get(name, name or "not recorded")

    @property
    def is_part(self) -> bool:
        """True for the last part of a run in several: the earlier ones paid for some of its cases.

        Costs of cases are then those of the last part.
        """
        return (self.count("meta", "run_calls") or 0) > (self.count("meta", "calls") or 0)

    @property
    def place(self) -> tuple[str, str, str]:
        """Where the results stand: L3 to L6, the unknown last; then by time, and by run id."""
        return self.layer.code, self.text("meta", "timestamp"), self.text("meta", "run_id")

    def view(self) -> LayerView:
        """Return what reports show of the results; nothing for an unknown layer."""
        if not self.layer.implementation:
            return LayerView()
        return load_layer(self.layer.name).view(
            self.value if isinstance(self.value, Mapping) else {}
        )

    def entities(self) -> dict[str, Json]:
        """Return the summaries of skills or groups by name, without the pooled ``_overall``."""
        summary = self.entries("summary")
        return {name: summary[name] for name in sorted(summary) if name != "_overall"}


def layer_of(eval_type: str) -> LayerEntry:
    """Return a layer; an unknown type is shown by its own word."""
    return LAYERS.get(eval_type) or LayerEntry(
        name=eval_type,
        code="L?",
        title=eval_type or "unnamed",
        question="An evaluation of a kind that this report does not know.",
        about="",
        method="",
        cases="",
        options=(),
        examples=(),
        implementation="",
    )


class Outcome(NamedTuple):
    """The state of one case, and the reason if it gave no figure."""

    state: State
    why: str = ""


def errors_of(case: Json) -> list[tuple[str, str]]:
    """Return (kind, message) of every error of a case."""
    return [(each.text("kind") or "error", each.text("message")) for each in case.rows("errors")]


def outcome(case: Json) -> Outcome:
    """Return the state of a case. Skipped precedes error, and error precedes a verdict.

    ``unscored`` is a case without any of them; it is not counted.
    """
    if skipped := case.text("skipped"):
        return Outcome("skipped", skipped)
    if errors := errors_of(case):
        messages = (f"{kind}: {message}" if message else kind for kind, message in errors)
        return Outcome("error", "; ".join(messages))
    passed = case.flag("passed")
    if passed is not None:
        return Outcome("passed" if passed else "failed")
    scores = [score.number() for score in case.entries("scores").values()]
    checked = case.flag("judged") is False and bool(case.entries("checks"))
    if checked or (scores and None not in scores):
        return Outcome("scored")
    return Outcome("unscored", "the results hold neither a verdict nor a reason for its absence")


def place_in_run(case: Json) -> str:
    """Return ``prompt 1, run 2`` of a judged case; empty where it has no such numbers.

    A results file counts prompts and runs from 0, and everything that people read from 1.
    """
    places = (("prompt", case.count("prompt_index")), ("run", case.count("run_index")))
    return ", ".join(f"{name} {place + 1:,}" for name, place in places if place is not None)


def states_of(cases: Iterable[Json]) -> Counter[State]:
    """Return the number of cases in each state."""
    return Counter(outcome(case).state for case in cases)


def expected_skills(case: Json) -> list[str]:
    """Return the skills that a request should activate; empty where it should activate none."""
    if case.flag("should_activate") is False:
        return []
    one = case.text("expected_skill")
    return case.names("expected_skills") or ([one] if one else [])
