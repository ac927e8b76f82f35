"""A report on a terminal: nothing of it is lost at 80 columns."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from typing import Any

import pytest

from skillyard.cli.blocks import Block
from skillyard.cli.console import Console
from skillyard.cli.eval_views import report_blocks
from skillyard.cli.plain import width_of
from skillyard.evals.report.report import Report, build_report
from skillyard.evals.report.values import LayerView, ReportTable, Results, visible_line
from tests.cli.terminal import render
from tests.evals.report import making
from tests.evals.report.making import CHANGES, HOSTILE, every, hostile
from tests.tables import for_each

COLUMNS = 80


def plain(blocks: Iterator[Block], width: int | None = None) -> str:
    return "".join(f"{line}\n" for block in blocks for line in render(block, width))


def drawn(blocks: Iterator[Block]) -> str:
    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(stream):
        patch.setenv("COLUMNS", str(COLUMNS))
        Console(color="always").print(*blocks)
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())


def squeezed(text: str) -> str:
    """A text without blanks and line ends, so that wrapping does not count."""
    return "".join(text.split())


def report_of(envelopes: Any = None) -> Report:
    return build_report(every() if envelopes is None else envelopes, changes=CHANGES)


def test_piped_it_has_the_same_words_in_longer_lines() -> None:
    piped = plain(report_blocks(report_of()))
    assert "\x1b" not in piped
    first = next(line for line in piped.splitlines() if line.startswith("csv-cleaning"))
    assert re.sub(" {2,}", "  ", first) == (
        "csv-cleaning  ▲ better  +0.91 (+0.52 to +1.30)  −0.50 at prompt 2  4–1–1  12"
    )


@for_each("render_blocks", [lambda blocks: plain(blocks, COLUMNS), drawn], ids=["plain", "rich"])
def test_at_eighty_columns_every_cell_is_there_and_no_line_is_longer(render_blocks: Any) -> None:
    names = [
        "a-skill-with-a-name-that-is-longer-than-a-line-" + "x" * 60,
        "short",
        "日本語のスキル",
    ]
    cells = ("? not enough data: 12 more prompts", "+0.91 (+0.52 to +1.30)", "$0.51", "0 %")
    columns = ("Skill", *"abc", "Verdict", "Next")
    table = ReportTable("", columns, tuple((name, *cells, "keep") for name in names))
    part = (Results(making.activation()), LayerView(table))
    text = render_blocks(report_blocks(replace(build_report([]), parts=(part,))))
    assert max(map(width_of, text.split("\n"))) <= COLUMNS
    assert "…" not in text
    written = "".join(names) + "".join(cells) * 3
    assert [char for char in set(written) - {" "} if text.count(char) < written.count(char)] == []


@for_each("text", HOSTILE)
def test_hostile_texts_stay_texts(text: str) -> None:
    written = plain(
        report_blocks(report_of([hostile(text, each) for each in every(prompts=1)])), COLUMNS
    )
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e\u2066\u2028\u2029]", written)
    piped = plain(report_blocks(report_of([hostile(text, each) for each in every(prompts=1)])))
    assert squeezed(visible_line(text)[:60]) in squeezed(piped)


def test_what_needs_an_action_is_marked_once_for_all_skills_that_need_it() -> None:
    text = plain(report_blocks(report_of([making.size_impact()]), whole=False))
    marked = [line for line in text.splitlines() if line.startswith("→")]
    assert marked == [
        "→ git-bisect, incident-review, unit-test-repair: a new run of 24 prompts",
        "→ log-triage, release-notes: it makes answers worse: rewrite it",
        "→ pdf-form-filling: the summary is enough: shorten it",
        "→ sql-migrations: no skill does as well: remove it",
    ]


def test_nothing_at_all_is_said_in_words() -> None:
    assert "There is nothing to report on." in plain(report_blocks(build_report([])))
