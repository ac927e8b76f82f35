"""Plots as inline SVG: axes, ticks, marks with intervals, lines and heat maps.

Every plot has a title and a description for screen readers. Each colour is accompanied by a shape,
a dash or a number. Colours and fonts come from the page's style sheet by class. Lengths are in user
units; a plot is drawn for the width of a phone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10, sqrt
from typing import Literal, TypeAlias

from skillyard.evals.report.markup import Markup, visible_line, xml_text

__all__ = [
    "Cell",
    "Scale",
    "Shape",
    "bar",
    "figure",
    "heat_map",
    "label",
    "line",
    "mark",
    "path",
    "round_ticks",
    "scale_over",
    "span",
    "stem",
    "x_axis",
    "y_axis",
]

Shape: TypeAlias = Literal["circle", "square", "diamond", "triangle", "ring"]
_HEAT_STEPS = 5


def _n(value: float) -> str:
    """Return a coordinate with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from ``low`` to ``high`` drawn from ``start`` to ``end``; ``low`` < ``high``."""

    low: float
    high: float
    start: float
    end: float
    root: bool = False
    """Square-root spacing, for values from 0 up that differ by powers of ten."""

    def at(self, value: float) -> float:
        """Return where a value is drawn; values outside are drawn at the end they pass."""
        clamped = min(max(value, self.low), self.high)
        share = (clamped - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * (sqrt(share) if self.root else share)

    def holds(self, value: float) -> bool:
        """True where the value lies within the scale."""
        return self.low <= value <= self.high

    def ticks(self, max_ticks: int = 6) -> tuple[float, ...]:
        """Return round numbers within the scale, about evenly spaced as drawn."""
        if not self.root:
            return round_ticks(self.low, self.high, max_ticks)
        ticks = [0.0] if self.low <= 0 else []
        unit = 10.0 ** floor(log10(self.high)) / 100
        steps = [unit * power * digit for power in (1, 10, 100) for digit in (1, 2, 5)]
        apart = abs(self.end - self.start) / max_ticks
        for step in steps:
            last = self.at(ticks[-1]) if ticks else self.start - apart
            if self.holds(step) and abs(self.at(step) - last) >= apart:
                ticks.append(step)
        return tuple(ticks)


def scale_over(
    values: Sequence[float], start: float, end: float, *, least: tuple[float, float]
) -> Scale:
    """Return a scale that holds every value and at least the range ``least``."""
    low, high = min([least[0], *values]), max([least[1], *values])
    return Scale(low, high if high > low else low + 1, start, end)


def round_ticks(low: float, high: float, max_ticks: int = 6) -> tuple[float, ...]:
    """Return the multiples of 1, 2 or 5 times a power of ten from ``low`` to ``high``.

    The step is the finest that gives at most ``max_ticks`` of them (at least 2).
    """
    if not high > low:
        return (low,)
    power = 10.0 ** floor(log10((high - low) / max(max_ticks, 2)))
    for factor in (1, 2, 5, 10, 20, 50, 100):
        step = power * factor
        first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
        if last - first + 1 <= max(max_ticks, 2):
            return tuple(round(number * step, 10) for number in range(first, last + 1))
    return (low, high)


def figure(width: float, height: float, title: str, text: str, *content: str) -> Markup:
    """Return a plot of that size with its title, and what it shows in words."""
    return Markup(
        f'<svg viewBox="0 0 {_n(width)} {_n(height)}" width="{_n(width)}" height="{_n(height)}"'
        f' role="img"><title>{xml_text(visible_line(title))}</title>'
        f"<desc>{xml_text(visible_line(text))}</desc>{''.join(content)}</svg>"
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    """Return a straight line; ``kind`` is its class."""
    return Markup(f'<line class="{kind}" x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"/>')


def bar(x: float, y: float, width: float, height: float, kind: str) -> Markup:
    """Return a rectangle."""
    return Markup(
        f'<rect class="{kind}" x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"/>'
    )


def path(points: Sequence[tuple[float, float]], kind: str) -> Markup:
    """Return a line through points; empty for fewer than two."""
    if len(points) < 2:
        return Markup("")
    through = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
    return Markup(f'<polyline class="{kind}" points="{through}"/>')


def label(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> Markup:
    """Return one line of text; ``anchor`` is ``start``, ``middle`` or ``end``."""
    return Markup(
        f'<text class="{kind}" x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}">'
        f"{xml_text(visible_line(text))}</text>"
    )


def mark(x: float, y: float, shape: Shape, kind: str, title: str = "", size: float = 5) -> Markup:
    """Return a mark around a point; ``title`` is its tooltip."""
    tooltip = f"<title>{xml_text(visible_line(title))}</title>" if title else ""
    if shape in ("circle", "ring"):
        at = f'cx="{_n(x)}" cy="{_n(y)}" r="{_n(size)}"'
        return Markup(f'<circle class="{kind} {shape}" {at}>{tooltip}</circle>')
    corners = " ".join(f"{_n(x + dx * size)},{_n(y + dy * size)}" for dx, dy in _CORNERS[shape])
    return Markup(f'<polygon class="{kind}" points="{corners}">{tooltip}</polygon>')


# Sized so that every shape covers about as much as a circle of radius 1.
_CORNERS: dict[str, tuple[tuple[float, float], ...]] = {
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "triangle": ((0, -1.3), (1.2, 0.9), (-1.2, 0.9)),
}


def span(scale: Scale, low: float, high: float, y: float, kind: str, cap: float = 4) -> Markup:
    """Return a horizontal interval; an arrow head shows an end that lies outside the scale."""
    start, end = scale.at(low), scale.at(high)
    return Markup(
        line(start, y, end, y, kind)
        + _end(start, y, -1 if not scale.holds(low) else 0, cap, kind)
        + _end(end, y, 1 if not scale.holds(high) else 0, cap, kind)
    )


def _end(x: float, y: float, beyond: int, cap: float, kind: str) -> Markup:
    if not beyond:
        return line(x, y - cap, x, y + cap, kind)
    back = x - beyond * cap
    return path([(back, y - cap), (x, y), (back, y + cap)], kind)


def stem(scale: Scale, low: float, high: float, x: float, kind: str, cap: float = 4) -> Markup:
    """Return a vertical interval; an end that lies outside the scale has no cap."""
    top, bottom = scale.at(high), scale.at(low)
    caps = [y for y, end in ((top, high), (bottom, low)) if scale.holds(end)]
    lines = [line(x, top, x, bottom, kind), *(line(x - cap, y, x + cap, y, kind) for y in caps)]
    return Markup("".join(lines))


def x_axis(
    scale: Scale,
    y: float,
    format_number: Callable[[float], str],
    *,
    name: str = "",
    top: float | None = None,
    max_ticks: int = 6,
) -> Markup:
    """Return a horizontal axis at ``y`` with its numbers below; grid lines up to ``top``."""
    parts = [line(scale.start, y, scale.end, y, "axis")]
    for tick in scale.ticks(max_ticks):
        x = scale.at(tick)
        parts.append(line(x, y if top is None else top, x, y + 4, "grid"))
        parts.append(label(x, y + 17, format_number(tick), "tick", "middle"))
    if name:
        parts.append(label((scale.start + scale.end) / 2, y + 34, name, "name", "middle"))
    return Markup("".join(parts))


def y_axis(
    scale: Scale,
    x: float,
    format_number: Callable[[float], str],
    *,
    name: str = "",
    right: float | None = None,
    max_ticks: int = 6,
) -> Markup:
    """Return a vertical axis at ``x`` with its numbers left; grid lines as far as ``right``.

    The name is above the axis, written horizontally.
    """
    parts = []
    for tick in scale.ticks(max_ticks):
        y = scale.at(tick)
        parts.append(line(x, y, x if right is None else right, y, "grid"))
        parts.append(label(x - 7, y + 4, format_number(tick), "tick", "end"))
    if name:
        parts.append(label(0, min(scale.start, scale.end) - 14, name, "name"))
    return Markup("".join(parts))


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a heat map."""

    text: str
    share: float
    """0..1: how strongly it is filled."""
    right: bool
    """It counts what should be: such cells are framed, and filled with the other colour."""
    tooltip: str


def heat_map(
    title: str,
    text: str,
    row_names: Sequence[str],
    column_names: Sequence[str],
    cells: Sequence[Sequence[Cell]],
    *,
    names_width: float = 168,
    size: float = 42,
) -> Markup:
    """Return a grid of numbers, the stronger the darker; as many rows of cells as row names."""
    top, row = 24.0, 34.0
    parts: list[str] = [
        label(names_width + (number + 0.5) * size, top - 8, name, "tick", "middle")
        for number, name in enumerate(column_names)
    ]
    for number, (name, line_of_cells) in enumerate(zip(row_names, cells, strict=True)):
        y = top + number * row
        parts.append(label(0, y + row / 2 + 4, visible_line(name, 25), "entry"))
        for column, cell in enumerate(line_of_cells):
            x = names_width + column * size
            parts.append(
                f"<g><title>{xml_text(visible_line(cell.tooltip))}</title>"
                + bar(x + 1, y + 1, size - 2, row - 2, _heat(cell))
                + label(x + size / 2, y + row / 2 + 5, cell.text, "figure", "middle")
                + "</g>"
            )
    width = names_width + size * len(column_names)
    return figure(width, top + row * len(row_names) + 2, title, text, *parts)


def _heat(cell: Cell) -> str:
    step = ceil(min(max(cell.share, 0.0), 1.0) * _HEAT_STEPS)
    return f"{'right' if cell.right else 'wrong'} h{step}"
