"""The retrieval report: one HTML file without scripts, with plots as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import isfinite
from typing import NamedTuple

from skillyard.evals.retrieval.comparison import (
    MEASURES,
    MeasureComparison,
    interval,
    interval_text,
)
from skillyard.evals.retrieval.measures import (
    RIGHT,
    BenchQuery,
    RankedAnswer,
    measures,
    per_query,
)

__all__ = ["Reliability", "brier", "reliability", "render"]

BINS = 10
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1d2733; background: #fff }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid #d8dee6 }
th:first-child, td:first-child { text-align: left }
svg { max-width: 100%; height: auto } .bar { fill: #2f6f9f } .line { stroke: #2f6f9f; fill: none }
.grid { stroke: #d8dee6 } text { font: 12px system-ui, sans-serif; fill: #1d2733 }
.bad { fill: #b4472e; color: #b4472e } .small { color: #5a6776; font-size: 13px }
@media (prefers-color-scheme: dark) { body { color: #dbe3ec; background: #12181f } text { fill:
  #dbe3ec } th, td { border-color: #33404d } .grid { stroke: #33404d } .small { color: #94a2b1 } }
"""


class Reliability(NamedTuple):
    """One bin of confidences: what was claimed, and what came true."""

    low: float
    high: float
    queries: int
    claimed: float
    """Mean confidence."""
    true: float
    """Share of queries whose first skill was right."""


def _outcomes(
    queries: Sequence[BenchQuery], run: Mapping[str, RankedAnswer]
) -> list[tuple[float, float]]:
    """Return (confidence, 1 or 0 for a right first skill), judged queries only."""
    outcomes = []
    for query in queries:
        answer = run.get(query.id)
        sure = answer.confidence if answer is not None and isfinite(answer.confidence) else 0.0
        first = answer.ids[0] if answer is not None and answer.ids else ""
        if query.answerable or not query.relevant:
            outcomes.append((sure, float(query.relevant.get(first, 0) >= RIGHT)))
    return outcomes


def reliability(
    queries: Sequence[BenchQuery], run: Mapping[str, RankedAnswer]
) -> list[Reliability]:
    """Return the bins of a reliability diagram over the confidence of the first skill, 0..1."""
    bins: list[list[tuple[float, float]]] = [[] for _ in range(BINS)]
    for sure, right in _outcomes(queries, run):
        bins[min(BINS - 1, max(0, int(sure * BINS)))].append((sure, right))
    return [
        Reliability(
            number / BINS,
            (number + 1) / BINS,
            len(in_bin),
            sum(sure for sure, _ in in_bin) / len(in_bin),
            sum(right for _, right in in_bin) / len(in_bin),
        )
        for number, in_bin in enumerate(bins)
        if in_bin
    ]


def brier(queries: Sequence[BenchQuery], run: Mapping[str, RankedAnswer]) -> float | None:
    """Return the Brier score of the confidence against a right first skill; 0 is best.

    None where the confidences are no probabilities.
    """
    outcomes = _outcomes(queries, run)
    if not outcomes or any(not 0 <= sure <= 1 for sure, _ in outcomes):
        return None
    return sum((sure - right) ** 2 for sure, right in outcomes) / len(outcomes)


def render(
    title: str,
    queries: Sequence[BenchQuery],
    run: Mapping[str, RankedAnswer],
    comparisons: Sequence[MeasureComparison] = (),
    against: str = "",
) -> str:
    """Return the report as HTML."""
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title>",
        f"<meta name=viewport content='width=device-width'><style>{_STYLE}</style>",
        f"<h1>{escape(title)}</h1>",
        _headline(queries, run),
        _kinds(queries, run),
    ]
    if comparisons:
        parts.append(_comparison_table(comparisons, against))
    score = brier(queries, run)
    if score is not None:
        parts.append(_reliability(reliability(queries, run), score))
    parts.append(_worst(queries, run))
    return "\n".join(parts) + "</html>\n"


def _row(cells: Sequence[str], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def _headline(queries: Sequence[BenchQuery], run: Mapping[str, RankedAnswer]) -> str:
    rows = []
    for name in MEASURES:
        values = list(per_query(queries, run, name).values())
        if values:
            low, high = interval(values)
            mean = sum(values) / len(values)
            rows.append(_row([name, f"{mean:.3f}", interval_text(low, high)]))
    values_by_name = measures(queries, run)
    names = [name for name in ("auroc", "best_f1", "false_fire@95") if name in values_by_name]
    rows += [_row([f"abstention, {name}", f"{values_by_name[name]:.3f}", ""]) for name in names]
    count = int(values_by_name.get("queries", 0)), int(values_by_name.get("unanswerable", 0))
    head = _row(["measure", "mean", "95 % interval"], "th")
    about = f"<p>{count[0]} queries with an answer, {count[1]} without.</p>"
    return f"{about}<table>{head}{''.join(rows)}</table>"


def _kinds(queries: Sequence[BenchQuery], run: Mapping[str, RankedAnswer]) -> str:
    kinds = sorted({query.kind for query in queries if query.kind and query.answerable})
    if not kinds:
        return ""
    bars = []
    for place, kind in enumerate(kinds):
        these = [query for query in queries if query.kind == kind]
        values = list(per_query(these, run, "ndcg@10").values())
        low, high = interval(values)
        mean, y = sum(values) / len(values), 24 * place
        bars.append(
            f"<text x=112 y={y + 15} text-anchor=end>{escape(kind)} ({len(values)})</text>"
            f"<rect class=bar x=120 y={y + 3} width={400 * mean:.1f} height=15></rect>"
            f"<line class=grid x1={120 + 400 * low:.1f} x2={120 + 400 * high:.1f} y1={y + 10}"
            f" y2={y + 10} stroke-width=3></line>"
            f"<text x={max(130 + 400 * mean, 130 + 400 * high):.1f} y={y + 15}>{mean:.3f}</text>"
        )
    height = 24 * len(kinds) + 6
    return (
        "<h2>nDCG@10 by kind</h2>"
        f"<svg viewBox='0 0 600 {height}' width=600 role=img>{''.join(bars)}</svg>"
    )


def _comparison_table(comparisons: Sequence[MeasureComparison], against: str) -> str:
    titles = [
        "measure",
        "before",
        "now",
        "difference",
        "95 % interval",
        "p",
        "better, worse",
        "verdict",
    ]
    head = _row(titles, "th")
    rows = [
        _row(
            [
                one.measure,
                f"{one.first:.3f}",
                f"{one.second:.3f}",
                f"<span{' class=bad' if one.regressed else ''}>{one.difference:+.3f}</span>",
                interval_text(one.low, one.high, signed=True),
                f"{one.p_adjusted:.3f}",
                f"{one.better}, {one.worse}",
                one.verdict,
            ]
        )
        for one in comparisons
    ]
    return f"<h2>Against {escape(against)}</h2><table>{head}{''.join(rows)}</table>"


def _reliability(bins: Sequence[Reliability], score: float) -> str:
    points = " ".join(f"{40 + 300 * b.claimed:.1f},{320 - 300 * b.true:.1f}" for b in bins)
    dots = "".join(
        f"<circle class=bar cx={40 + 300 * b.claimed:.1f} cy={320 - 300 * b.true:.1f}"
        f" r={2 + min(12.0, b.queries**0.5):.1f}><title>{b.queries} queries: claimed"
        f" {b.claimed:.2f}, true {b.true:.2f}</title></circle>"
        for b in bins
    )
    axes = (
        "<line class=grid x1=40 y1=320 x2=340 y2=20></line>"
        "<line class=grid x1=40 y1=320 x2=340 y2=320></line>"
        "<line class=grid x1=40 y1=320 x2=40 y2=20></line>"
        "<text x=150 y=345>claimed</text><text x=4 y=16>came true</text>"
    )
    return (
        f"<h2>Reliability</h2><p>Brier score {score:.3f}. A circle on the diagonal means what it"
        " claims; its size is the number of queries.</p>"
        f"<svg viewBox='0 0 380 360' width=380 role=img>{axes}"
        f"<polyline class=line points='{points}'></polyline>{dots}</svg>"
    )


def _worst(queries: Sequence[BenchQuery], run: Mapping[str, RankedAnswer]) -> str:
    values = per_query(queries, run, "ndcg@10")
    worst = sorted((value, key) for key, value in values.items())
    by_id = {query.id: query for query in queries}
    rows = []
    for value, key in worst[:20]:
        answer = run.get(key)
        first = answer.ids[0] if answer is not None and answer.ids else "nothing"
        text = " ".join(by_id[key].query.text.split())[:160]
        rows.append(_row([escape(key), f"{value:.2f}", escape(first), escape(text)]))
    head = _row(["query", "nDCG@10", "first skill", "text"], "th")
    return f"<h2>The worst answers</h2><table class=small>{head}{''.join(rows)}</table>"
