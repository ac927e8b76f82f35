"""The HTML report: one file that opens from disk and needs no script and no network.

All text of models, skills, judges and servers is escaped in one place: the template's autoescape,
after :func:`skillyard.evals.report.markup.visible`. The page's content security policy forbids
scripts, pictures and connections, and names its one style sheet by hash.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from skillyard.errors import InvalidInput
from skillyard.evals.report.activation import ActivationView, activation_view
from skillyard.evals.report.case_views import CaseGroup, case_groups
from skillyard.evals.report.changes import Change, changes_of
from skillyard.evals.report.confusion import ConfusionView, confusion_view
from skillyard.evals.report.head import Fact, backend, banners, cost, facts, provenance
from skillyard.evals.report.layers import Layer, layer_of, ordered
from skillyard.evals.report.markup import Markup, visible, visible_line
from skillyard.evals.report.outcomes import Failure, failures
from skillyard.evals.report.overview import Overview, Tile, overview, tile
from skillyard.evals.report.pairs import PairView, pair_view
from skillyard.evals.report.proof import limits_of, shows
from skillyard.evals.report.texts import Texts
from skillyard.evals.report.trust import TrustView, trust_view
from skillyard.evals.report.values import mapping, rows, word
from skillyard.evals.report.words import whole
from skillyard.extras import install_command
from skillyard.io.sha256 import sha256

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render"]

_PACKAGE = "skillyard.evals.report"


@dataclass(frozen=True, slots=True)
class Section:
    """One envelope in the page; of the three views only that of its layer is there."""

    anchor: str
    layer: Layer
    fake: bool
    answered: str
    tile: Tile
    pairs: PairView | None
    trust: TrustView | None
    activation: ActivationView | None
    confusion: ConfusionView | None
    cost: tuple[Fact, ...]
    provenance: tuple[Fact, ...]
    failures: tuple[Failure, ...]
    groups: tuple[CaseGroup, ...]


class Page(NamedTuple):
    """All that the template shows."""

    title: str
    policy: str
    style: Markup
    banners: tuple[object, ...]
    facts: tuple[Fact, ...]
    overview: Overview
    sections: tuple[Section, ...]
    changes: tuple[Change, ...]
    shows: tuple[str, ...]
    limits: tuple[str, ...]
    text_limit: str


def render(
    envelopes: Sequence[Mapping[str, object]],
    *,
    text_of: Callable[[str], str | None],
    title: str,
    changes: Sequence[Mapping[str, object]] = (),
) -> str:
    """Return the report as one HTML document, the same bytes for the same input.

    ``text_of`` returns the text of a stored answer or judge's reply for the path in a case, or
    None. ``changes`` are the lines of a comparison with a baseline
    (:mod:`skillyard.evals.report.changes`). Raises InvalidInput if jinja2 is not installed.
    """
    ordered_envelopes = ordered(mapping(each) for each in envelopes)
    answers = sum(
        len(mapping(case.get("generations")))
        for each in ordered_envelopes
        for case in rows(each.get("cases"))
    )
    texts = Texts(text_of, answers)
    style = _style()
    page = Page(
        visible_line(title) or "Evaluation",
        _policy(style),
        Markup(style),
        banners(ordered_envelopes),
        facts(ordered_envelopes),
        overview(ordered_envelopes),
        tuple(
            _section(f"part-{place}", each, texts)
            for place, each in enumerate(ordered_envelopes, 1)
        ),
        changes_of(changes),
        shows(ordered_envelopes),
        limits_of(ordered_envelopes),
        whole(texts.limit),
    )
    return _environment().get_template("report.html").render(page=page)


def _section(anchor: str, envelope: Mapping[str, object], texts: Texts) -> Section:
    cases = rows(envelope.get("cases"))
    meta = mapping(envelope.get("meta"))
    kind = word(meta.get("eval_type"))
    paired = kind in ("effectiveness", "size_impact")
    return Section(
        anchor,
        layer_of(envelope),
        word(meta.get("backend")) == "fake",
        backend(envelope),
        tile(envelope, anchor),
        pair_view(envelope) if paired else None,
        trust_view(envelope, cases) if paired else None,
        activation_view(envelope) if kind == "activation" else None,
        confusion_view(envelope) if kind == "confusion" else None,
        cost(envelope),
        provenance(envelope),
        failures(cases),
        case_groups(envelope, texts),
    )


@cache
def _style() -> str:
    text = files(_PACKAGE).joinpath("templates", "report.css").read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _policy(style: str) -> str:
    digest = b64encode(sha256(style.encode("utf-8"))).decode("ascii")
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        command = install_command("eval")
        raise InvalidInput(f"the HTML report needs jinja2: {command}") from None
    return Environment(
        loader=PackageLoader(_PACKAGE, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _finalize(value: object) -> object:
    """Pass the values that the page may hold: markup, cleaned texts and whole numbers.

    The views format figures as text, so a float or None here is a programming error.
    """
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return visible(value)
    if hasattr(value, "__html__") or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise TypeError(f"the page shows texts and whole numbers, not {type(value).__name__}")
