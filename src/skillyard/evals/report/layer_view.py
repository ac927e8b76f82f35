"""The values that reports are made of: badges, estimates, tables, folds, and what a layer shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from skillyard.evals.report.values import Json
from skillyard.evals.report.words import ALL_EQUAL, UNKNOWN, between, first_upper, signed


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


_EQUAL_NOTE = (
    f"{first_upper(ALL_EQUAL)}: every prompt, case or skill behind the figure gave this value, so "
    "no spread was seen and there is no interval. Others can still give another value."
)
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


class Row(NamedTuple):
    """One row of a table."""

    name: str
    """Comes from the cases, as does every other text here that is not ours: it is not trusted."""
    cells: tuple[Cell, ...]
    anchor: str = ""
    """The case on the page of cases that the row is about."""


class Table(NamedTuple):
    """A table; estimates can be drawn over ``scale``."""

    title: str
    columns: tuple[str, ...]
    """The first is the column of the names."""
    rows: tuple[Row, ...]
    note: str = ""
    scale: tuple[float, float] | None = None
    zero: float | None = None
    """The value at which an upright line stands."""


class Fact(NamedTuple):
    """One line of a list of facts."""

    name: str
    value: str
    note: str = ""


def table_of_facts(title: str, facts: tuple[Fact, ...]) -> Table:
    """Return facts as a table of two columns; unknown ones are left out."""
    rows = (
        Row(fact.name, (f"{fact.value} ({fact.note})" if fact.note else fact.value,))
        for fact in facts
        if fact.value and fact.value != UNKNOWN
    )
    return Table(title, ("What", "Value"), tuple(rows))


def with_rows(tables: Iterable[Table]) -> tuple[Table, ...]:
    """Return the tables that have rows, each with a note on estimates without a spread."""
    return tuple(map(with_note, (table for table in tables if table.rows)))


def with_note(table: Table) -> Table:
    """Return the table; a note says what an estimate means whose values are all equal."""
    cells = (cell for row in table.rows for cell in row.cells)
    if not any(isinstance(cell, Estimate) and cell.interval == ALL_EQUAL for cell in cells):
        return table
    return table._replace(note=f"{table.note} {_EQUAL_NOTE}".strip())


class Fold(NamedTuple):
    """A part that is closed until somebody opens it."""

    title: str
    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()


class SkillResult(NamedTuple):
    """What a layer found for one skill: a line of the first table."""

    estimate: Estimate
    badge: Badge | None = None
    """The verdict, from a layer that gives one."""
    shrunken: str = ""
    """The estimate moved towards the mean of all skills."""
    units: int = 0
    """The prompts behind a verdict."""
    action: str = ""
    """What to do next; empty where all is well."""


@dataclass(frozen=True, slots=True)
class LayerView:
    """The results of one layer as texts. A layer fills in what it has."""

    column: str = ""
    """The title of its results in the first table; empty for a layer that gives verdicts."""
    results: Mapping[str, SkillResult] = field(default_factory=dict)
    """By skill."""
    pooled: tuple[str, ...] = ()
    """Sentences on all skills or all requests together."""
    tables: tuple[Table, ...] = ()
    """What decided."""
    findings: tuple[tuple[str, str], ...] = ()
    """What stands out: the skill or group, and a sentence about it."""
    folds: tuple[Fold, ...] = ()
    shows: str = ""
    """What such results prove."""
    limits: tuple[str, ...] = ()
    """What they do not prove."""
