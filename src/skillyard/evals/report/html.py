"""The HTML report: a page that answers, and a page of all cases. Neither needs a script or network.

All text of models, skills, judges and servers is escaped in one place: the template's autoescape,
after :func:`skillyard.evals.report.words.visible`. The pages' content security policy forbids
scripts, pictures and connections, and names their one style sheet by hash.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from math import floor, log10
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command
from skillyard.base.io.sha256 import sha256
from skillyard.evals.report.cases import CaseGroup
from skillyard.evals.report.layer_view import Estimate, Table, cell_text
from skillyard.evals.report.report import Report
from skillyard.evals.report.words import percent, signed, visible

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE = "skillyard.evals.report"
_PLOT_WIDTH, _PLOT_MARGIN = 200, 12.0
"""Of the plots in ``strips.html``, in units of their picture."""


class CasePart(NamedTuple):
    """The cases of one layer."""

    title: str
    groups: Sequence[CaseGroup]


def render(report: Report, *, cases_link: str = "") -> str:
    """Return the report as one HTML document, the same bytes for the same input.

    ``cases_link`` is the address of the page of cases; empty where there is none. Raises
    InvalidInput if jinja2 is not installed.
    """
    return _page("report.html", report=report, cases_link=cases_link)


def render_cases(report: Report, parts: Sequence[CasePart], *, report_link: str) -> str:
    """Return the page of cases: every answer in full, both of a pair side by side."""
    return _page("cases.html", report=report, parts_of_cases=tuple(parts), report_link=report_link)


def _page(template: str, **values: object) -> str:
    style = files(_PACKAGE).joinpath("templates", "report.css").read_text(encoding="utf-8")
    style = style.replace("\r\n", "\n")
    digest = b64encode(sha256(style.encode("utf-8"))).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    page = environment().get_template(template)
    return page.render(style=style, policy=policy, **values)


@cache
def environment() -> Environment:
    """Return what the templates are rendered with; raises InvalidInput without jinja2."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        command = install_command("eval")
        raise InvalidInput(f"the HTML report needs jinja2: {command}") from None
    environment = Environment(
        loader=PackageLoader(_PACKAGE, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(cell_text=cell_text, place_on=_place_on, ticks_of=_ticks_of)
    return environment


def _finalize(value: object) -> object:
    """Pass the values that a page may show: markup, cleaned texts and whole numbers.

    The views format figures as text, so a float or None here is a programming error.
    """
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return visible(value)
    if hasattr(value, "__html__") or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise TypeError(f"the page shows texts and whole numbers, not {type(value).__name__}")


def _place_on(table: Table, value: float) -> float:
    """Return how far from the left a value stands; at the edge where it is beyond the scale."""
    low, high = table.scale or (0.0, 1.0)
    share = (min(max(value, low), high) - low) / (high - low)
    return _PLOT_MARGIN + share * (_PLOT_WIDTH - 2 * _PLOT_MARGIN)


def _ticks_of(table: Table, column: int) -> dict[float, str]:
    """Return the values on the axis of a column (from 1), as written; empty without plots."""
    cells = [row.cells[column - 1] for row in table.rows]
    if table.scale is None or not any(isinstance(cell, Estimate) for cell in cells):
        return {}
    low, high = table.scale
    if table.scale == (0.0, 1.0):
        return {share: percent(share) for share in (low, 0.5, high)}
    # A few multiples of 1, 2 or 5 times a power of ten.
    power = 10.0 ** floor(log10((high - low) / 4))
    step = next(power * factor for factor in (1, 2, 5, 10) if (high - low) / power / factor <= 4.5)
    ticks = [number * step for number in range(int(low / step), int(high / step) + 1)]
    return {tick: signed(tick, 1 if tick % 1 else 0) for tick in ticks}
