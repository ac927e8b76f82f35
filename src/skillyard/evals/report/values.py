"""What reports are made of: figures in words, JSON that may be damaged, tables and verdicts.

Answers of models, skills, judges and servers are hostile text. :func:`visible` writes out hidden
characters. Each renderer escapes the result for its format. A results file may be old, truncated or
not from skillyard. No file stops a report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from skillyard.base.invisible import clean
from skillyard.base.text import one_line, shorten
from skillyard.evals.layers.registry import LAYERS

UNKNOWN = "–"
_MINUS = "−"
_CENT = 0.01
_NAME = 40
# The two code points that clean() keeps and XML 1.0 forbids (section 2.2, "Characters").
_NOT_XML = {0xFFFE: "\\u{fffe}", 0xFFFF: "\\u{ffff}"}
_LARGEST = 1e12  # nothing that is counted or paid here comes near it; more would break every plot
_CONDITIONS = {
    "enhanced": "with the skill",
    "full": "full skill",
    "summary": "summary",
    "baseline": "no skill",
    "old": "old version",
    "full_siblings": "full skill and siblings",
}


def visible(text: str) -> str:
    """Return the text with every hidden or forbidden character written out; LF and TAB stay."""
    if text.isascii() and text.isprintable():
        return text
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return clean(lines).translate(_NOT_XML)


def visible_line(text: str, limit: int | None = None) -> str:
    """Return the text as :func:`visible`, on one line, at most ``limit`` characters of it.

    A text that was cut ends with an ellipsis.
    """
    line = one_line(visible(text))
    return line if limit is None else shorten(line, limit)


def condition(name: str) -> str:
    """Return what an arm is called; an arm that is not known keeps its name."""
    return _CONDITIONS.get(name) or visible_line(name, _NAME)


def against(comparison: str) -> str:
    """Return ``full/baseline`` as ``full skill against no skill``."""
    one, _, other = comparison.partition("/")
    return f"{condition(one)} against {condition(other)}" if other else condition(one)


def first_upper(text: str) -> str:
    """Return a text that begins with a capital."""
    return text[:1].upper() + text[1:]


def decimal(value: float | None, digits: int = 2) -> str:
    """Return ``3.42``; never ``-0.00``."""
    if value is None:
        return UNKNOWN
    text = f"{value:,.{digits}f}"
    if text.startswith("-"):
        text = _MINUS + text[1:] if text.strip("-0.,") else text[1:]
    return text


def signed(value: float | None) -> str:
    """Return ``+0.62`` or ``−0.40``; ``0.00`` has no sign."""
    text = decimal(value)
    positive = value is not None and value > 0 and text.strip("0.,") != ""
    return f"+{text}" if positive else text


def percent(value: float | None) -> str:
    """Return a share of 1 as ``87 %``; what rounds to none or all of it keeps a decimal."""
    if value is None:
        return UNKNOWN
    rounded = round(value * 100)
    digits = 1 if rounded in (0, 100) and value not in (0, 1) else 0
    return f"{decimal(value * 100, digits)}\u00a0%"


def money(value: float | None) -> str:
    """Return US dollars: ``$0.43``, and four decimals below a cent."""
    if value is None:
        return UNKNOWN
    return f"${decimal(value, 4 if 0 < abs(value) < _CENT else 2)}"


def whole(value: float | None) -> str:
    """Return ``1,850``."""
    return decimal(value, 0)


def between(
    low: float | None, high: float | None, format_number: Callable[[float | None], str] = signed
) -> str:
    """Return ``+0.20 to +1.04``; empty where either end is unknown, or both are one figure.

    An interval without a width would look like certainty, and only says that no spread was seen.
    Ends that only round to the same figure are ``about +0.20``.
    """
    if low is None or high is None or low == high:
        return ""
    first, last = format_number(low), format_number(high)
    return f"about {first}" if first == last else f"{first} to {last}"


def many(number: float | None, noun: str) -> str:
    """Return ``1 case``, ``2 cases``, ``– cases``."""
    return f"{whole(number)}\u00a0{noun}{'' if number == 1 else 's'}"


class Json:
    """A JSON value. Each method follows a path of keys and returns what lies there.

    Where the path ends early or leads to another type, it returns the empty value of its type.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def _get(self, path: tuple[str, ...], *types: type) -> Any:
        value: Any = self.value
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value if isinstance(value, types or object) else None

    def at(self, *path: str) -> Json:
        """Return the value itself."""
        return Json(self._get(path))

    def entries(self, *path: str) -> dict[str, Json]:
        """Return the entries of an object."""
        return {key: Json(each) for key, each in (self._get(path, Mapping) or {}).items()}

    def rows(self, *path: str) -> list[Json]:
        """Return the objects of a list."""
        items = self._get(path, list, tuple) or ()
        return [Json(each) for each in items if isinstance(each, Mapping)]

    def names(self, *path: str) -> list[str]:
        """Return the texts of a list."""
        return [each for each in self._get(path, list, tuple) or () if isinstance(each, str)]

    def text(self, *path: str) -> str:
        """Return a text."""
        return self._get(path, str) or ""

    def flag(self, *path: str) -> bool | None:
        """Return true or false; None for other values."""
        value: bool | None = self._get(path, bool)
        return value

    def number(self, *path: str) -> float | None:
        """Return a finite number of at most 12 digits before its point; None for other values."""
        value = self._get(path, int, float)
        if value is None or isinstance(value, bool) or not -_LARGEST <= value <= _LARGEST:
            return None
        return float(value)  # a comparison with NaN is false

    def count(self, *path: str) -> int | None:
        """Return a whole number from 0 up; None for other values."""
        number = self.number(*path)
        return int(number) if number is not None and number >= 0 and number % 1 == 0 else None


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
    interval = "" if value is None else between(low, high, form)
    return Estimate(value, low, high, form(value), interval, kind)


def cell_text(cell: Cell) -> str:
    """Return a cell as plain text."""
    if isinstance(cell, Badge):
        return f"{cell.sign} {cell.text}"
    if isinstance(cell, Estimate):
        return f"{cell.text} ({cell.interval})" if cell.interval else cell.text
    return cell


class ReportTable(NamedTuple):
    """A table; estimates are drawn over ``scale``, with an upright line at 0."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """Their texts come from the cases, as does every other text here that is not ours."""
    note: str = ""
    scale: tuple[float, float] | None = None
    is_closed: bool = False
    """True for one that is closed until somebody opens it."""


_NONE = ReportTable("", (), ())


class LayerView(NamedTuple):
    """The results of one layer as texts. A layer fills in what it has."""

    verdicts: ReportTable = _NONE
    """One line a skill; the last column is what to do next, empty where all is well."""
    pooled: tuple[str, ...] = ()
    """Sentences on all skills or all requests together."""
    tables: tuple[ReportTable, ...] = ()
    """What else decided, and closed ones."""
    lost: tuple[str, ...] = ()
    """Sentences on answers that an arm did not give."""


class Results(Json):
    """The results of one run, of a known layer."""

    __slots__ = ("cases", "is_fake", "layer")

    def __init__(self, envelope: object) -> None:
        super().__init__(envelope)
        self.layer = LAYERS[self.text("meta", "eval_type")]
        self.cases = self.rows("cases")
        self.is_fake = self.text("meta", "backend") == "fake"
        """True for the results of a stand-in server."""

    @property
    def name(self) -> str:
        """The code and the name of the layer."""
        return f"{self.layer.code} {self.layer.command}"


def entities_of(run: Json) -> dict[str, Json]:
    """Return the summaries of skills by name, without the pooled ``_overall``."""
    return {k: each for k, each in sorted(run.entries("summary").items()) if k != "_overall"}


def errors_of(case: Json) -> list[tuple[str, str]]:
    """Return (kind, message) of every error of a case."""
    return [(each.text("kind") or "error", each.text("message")) for each in case.rows("errors")]


def outcome(case: Json) -> tuple[str, str]:
    """Return the state of a case, and why it has no figure.

    The state is ``scored``, ``passed``, ``failed``, ``skipped``, ``error``, ``lost`` (a pair of
    which one arm gave no answer), or ``unscored`` (a case without anything, which is not counted).
    """
    skipped, errors = case.text("skipped"), errors_of(case)
    messages = "; ".join(f"{kind}: {message}" if message else kind for kind, message in errors)
    if case.flag("judged") is not False and len(case.names("lost")) == 1:
        return "lost", skipped or messages
    if skipped or errors:
        return ("skipped", skipped) if skipped else ("error", messages)
    if (passed := case.flag("passed")) is not None:
        return ("passed" if passed else "failed"), ""
    scores = [score.number() for score in case.entries("scores").values()]
    checked = case.flag("judged") is False and bool(case.entries("checks"))
    if checked or (scores and None not in scores):
        return "scored", ""
    return "unscored", "the results hold neither a verdict nor a reason for its absence"


def result_of(case: Json) -> str:
    """Return the winner of a pair, or the state of a case that has none."""
    winner = case.text("winner")
    return condition(winner) if winner else outcome(case)[0]


def is_pair(case: Json) -> bool:
    """True for a case that compares two answers; else a router picked skills in it."""
    return bool(case.text("comparison"))


def pair_title(case: Json) -> str:
    """Return what two answers a case compares, and for which prompt and run.

    A results file counts prompts and runs from 0, and everything that people read from 1.
    """
    places = (("prompt", case.count("prompt_index")), ("run", case.count("run_index")))
    place = ", ".join(f"{name} {place + 1:,}" for name, place in places if place is not None)
    return ": ".join(filter(None, (place, against(case.text("comparison")))))


def group_of(case: Json) -> str:
    """Return the heading of a case: its skill, or its category."""
    return case.text("skill_name") or case.text("category") or "without a name"
