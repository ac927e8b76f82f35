"""The values that reports are made of, and the results of one run as reports read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from skillyard.evals.layers.registry import LAYERS, LayerEntry
from skillyard.evals.report.values import Json
from skillyard.evals.report.words import ALL_EQUAL, UNKNOWN, between, first_upper, signed

State: TypeAlias = Literal["scored", "lost", "passed", "failed", "error", "skipped", "unscored"]
_BACKENDS = {
    "live": "a live model",
    "replay": "stored answers of an earlier run",
    "fake": "a stand-in server, not a model",
    "none": "skillyard’s own scorer",
}
_EQUAL_NOTE = (
    f"{first_upper(ALL_EQUAL)}: every prompt, case or skill behind the figure gave this value, so "
    "no spread was seen and there is no interval. Others can still give another value."
)


class Badge(NamedTuple):
    """A verdict in a word, with a sign of its own so that it does not rest on colour."""

    sign: str
    text: str
    kind: str
    """``good``, ``bad``, ``even``, ``open`` or ``act`` (something is to be done): its class."""


class Estimate(NamedTuple):
    """A figure with its interval, where there is one."""

    value: float | None
    low: float | None
    high: float | None
    text: str
    """The figure, as it is written."""
    interval: str = ""
    kind: str = "open"
    """The kind of the verdict that follows from it."""


Cell: TypeAlias = str | Badge | Estimate


def estimate(
    figures: Json,
    keys: tuple[str, str, str],
    form: Callable[[float | None], str] = signed,
    kind: str = "open",
) -> Estimate:
    """Return the figure and the ends of its interval that lie under ``keys``."""
    value, low, high = map(figures.number, keys)
    return Estimate(value, low, high, form(value), between(low, high, form), kind)


def cell_text(cell: Cell) -> str:
    """Return a cell as plain text."""
    if isinstance(cell, Badge):
        return f"{cell.sign} {cell.text}"
    if isinstance(cell, Estimate):
        return f"{cell.text} ({cell.interval})" if cell.interval else cell.text
    return cell


class ReportRow(NamedTuple):
    """One row of a table."""

    name: str
    """Comes from the cases, as does every other text here that is not ours: it is not trusted."""
    cells: tuple[Cell, ...]
    anchor: str = ""
    """The case on the page of cases that the row is about."""


class ReportTable(NamedTuple):
    """A table; estimates can be drawn over ``scale``."""

    title: str
    columns: tuple[str, ...]
    """The first is the column of the names."""
    rows: tuple[ReportRow, ...]
    note: str = ""
    scale: tuple[float, float] | None = None
    zero: float | None = None
    """The value at which an upright line stands."""

    @property
    def notes(self) -> str:
        """The note, and what an estimate means whose values are all equal."""
        cells = (cell for row in self.rows for cell in row.cells)
        equal = any(isinstance(cell, Estimate) and cell.interval == ALL_EQUAL for cell in cells)
        return f"{self.note} {_EQUAL_NOTE if equal else ''}".strip()


Facts: TypeAlias = Iterable[tuple[str, str]]
"""Names with their values; those without a value are not shown."""


def table_of_facts(title: str, facts: Facts) -> ReportTable:
    """Return facts as a table of two columns; unknown ones are left out."""
    known = (ReportRow(name, (value,)) for name, value in facts if value not in ("", UNKNOWN))
    return ReportTable(title, ("What", "Value"), tuple(known))


class Fold(NamedTuple):
    """A part that is closed until somebody opens it."""

    title: str
    sentences: tuple[str, ...] = ()
    tables: tuple[ReportTable, ...] = ()


class SkillResult(NamedTuple):
    """What a layer found for one skill: a line of the first table."""

    estimate: Estimate
    badge: Badge | None = None
    """The verdict, from a layer that gives one."""
    units: int = 0
    """The prompts behind a verdict."""
    action: str = ""
    """What to do next; empty where all is well."""
    worst: str = ""
    """The prompt with the worst difference."""
    lost: tuple[str, ...] = ()
    """Sentences on answers that an arm did not give."""


@dataclass(frozen=True, slots=True)
class LayerView:
    """The results of one layer as texts. A layer fills in what it has."""

    column: str = ""
    """The title of its results in the first table; empty for a layer that gives verdicts."""
    results: Mapping[str, SkillResult] = field(default_factory=dict)
    """By skill."""
    pooled: tuple[str, ...] = ()
    """Sentences on all skills or all requests together."""
    tables: tuple[ReportTable, ...] = ()
    """What decided."""
    findings: tuple[tuple[str, str], ...] = ()
    """What stands out: the skill, and a sentence about it."""
    folds: tuple[Fold, ...] = ()
    shows: str = ""
    """What such results prove."""
    limits: tuple[str, ...] = ()
    """What they do not prove."""


class Results(Json):
    """The results of one run."""

    __slots__ = ("cases", "is_fake", "layer")

    def __init__(self, envelope: object) -> None:
        super().__init__(envelope)
        name = self.text("meta", "eval_type")
        unknown = "An evaluation of a kind that this report does not know."
        self.layer = LAYERS.get(name) or LayerEntry(
            name, "L?", name or "unnamed", unknown, "", "", "", (), (), ""
        )
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
        """Where the results stand: by layer, the unknown last; then by time, and by run id."""
        return self.layer.code, self.text("meta", "timestamp"), self.text("meta", "run_id")

    def entities(self) -> dict[str, Json]:
        """Return the summaries of skills by name, without the pooled ``_overall``."""
        summary = self.entries("summary")
        return {name: summary[name] for name in sorted(summary) if name != "_overall"}


class CaseOutcome(NamedTuple):
    """The state of one case, and the reason if it gave no figure."""

    state: State
    why: str = ""


def errors_of(case: Json) -> list[tuple[str, str]]:
    """Return (kind, message) of every error of a case."""
    return [(each.text("kind") or "error", each.text("message")) for each in case.rows("errors")]


def outcome(case: Json) -> CaseOutcome:
    """Return the state of a case. Skipped precedes error, and error precedes a verdict.

    ``lost`` is a pair of which one arm gave no answer, and ``unscored`` a case without anything,
    which is not counted.
    """
    if case.flag("judged") is not False and len(case.names("lost")) == 1:
        return CaseOutcome("lost", case.text("skipped") or "; ".join(m for _, m in errors_of(case)))
    if skipped := case.text("skipped"):
        return CaseOutcome("skipped", skipped)
    if errors := errors_of(case):
        messages = (f"{kind}: {message}" if message else kind for kind, message in errors)
        return CaseOutcome("error", "; ".join(messages))
    passed = case.flag("passed")
    if passed is not None:
        return CaseOutcome("passed" if passed else "failed")
    scores = [score.number() for score in case.entries("scores").values()]
    checked = case.flag("judged") is False and bool(case.entries("checks"))
    if checked or (scores and None not in scores):
        return CaseOutcome("scored")
    why = "the results hold neither a verdict nor a reason for its absence"
    return CaseOutcome("unscored", why)


def is_pair(case: Json) -> bool:
    """True for a case that compares two answers; else a router picked skills in it."""
    return "comparison" in case


def place_in_run(case: Json) -> str:
    """Return ``prompt 1, run 2`` of a judged case; empty where it has no such numbers.

    A results file counts prompts and runs from 0, and everything that people read from 1.
    """
    places = (("prompt", case.count("prompt_index")), ("run", case.count("run_index")))
    return ", ".join(f"{name} {place + 1:,}" for name, place in places if place is not None)


def states_of(cases: Iterable[Json]) -> Counter[State]:
    """Return the number of cases in each state."""
    return Counter(outcome(case).state for case in cases)


def group_of(case: Json) -> str:
    """Return the heading of a case: its skill, or its category."""
    names = map(case.text, ("skill_name", "category"))
    return next(filter(None, names), "without a name")
