"""How blocks look: aligned and plain when piped, drawn on a terminal, both from the same values."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from skillyard.cli.blocks import Column, Span, Table, line
from skillyard.cli.console import Console
from tests.cli.conftest import Run
from tests.cli.terminal import render


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def table(*rows: list[str], head: bool = True) -> Table:
    return Table((Column("name"), Column("size", right=True), Column("why", wide=True)), rows, head)


def test_blanks_in_a_line_stay_where_they_are() -> None:
    text = line("    1  ", Span("two  words", "name"), "   end ", hang=7)
    assert list(render(text)) == list(render(text, 40)) == ["    1  two  words   end"]
    assert list(render(text, 20)) == ["    1  two  words", "       end"]


def shown(monkeypatch: pytest.MonkeyPatch, color: str = "auto", terminal: bool = True) -> str:
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr("sys.stdout", stream)
    Console(color=color).print(line(Span("name", "name")), table(["a", "1", "b"]))
    return stream.getvalue()


def test_colours_come_on_a_terminal_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    assert "\x1b[" in shown(monkeypatch)
    assert "\x1b[" not in shown(monkeypatch, terminal=False)
    assert "\x1b[" in shown(monkeypatch, "always", terminal=False)
    assert "\x1b[" not in shown(monkeypatch, "never")


def test_no_color_and_a_dumb_terminal_are_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in shown(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b[" not in shown(monkeypatch)


def test_without_rich_a_terminal_gets_plain_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    assert shown(monkeypatch, "always").startswith("name\nNAME")


def test_piped_output_does_not_import_rich(
    run: Run, skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    assert run("rank", "commit", "--root", "skills").code == 0
    assert "rich" not in sys.modules


def test_json_is_one_line_in_a_pipe_and_indented_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    piped, terminal = io.StringIO(), Terminal()
    for stream in (piped, terminal):
        monkeypatch.setattr("sys.stdout", stream)
        Console(json=True).document({"schema": "x/1", "text": "é\x1b"})
    assert piped.getvalue() == '{"schema": "x/1", "text": "\\u00e9\\u001b"}\n'
    assert terminal.getvalue().count("\n") == 4


@pytest.mark.parametrize(
    ("answer", "json", "terminal", "agreed"),
    [
        ("y\n", False, True, True),
        (" YES \n", False, True, True),
        ("\n", False, True, False),
        ("", False, True, False),
        ("yes please\n", False, True, False),
        ("y\n", True, True, False),
        ("y\n", False, False, False),
    ],
)
def test_only_yes_on_a_terminal_is_a_yes(
    answer: str, json: bool, terminal: bool, agreed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(answer) if terminal else io.StringIO(answer))
    monkeypatch.setattr("sys.stderr", asked)
    assert Console(json=json).confirm("take a\x1b[2J?") is agreed
    assert asked.getvalue() == ("take a\\x1b[2J? [y/N] " if terminal and not json else "")


def steps(console: Console, times: list[float], stream: io.StringIO) -> str:
    """Return what a progress line of three steps at these times leaves on a stream."""
    sys.stderr = stream
    clock = iter([0.0, *times])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.monotonic", lambda: next(clock))
        with console.progress("reading") as step:
            for number, _ in enumerate(times):
                if step is not None:
                    step(number + 1, len(times))
    return stream.getvalue()


def test_a_long_job_says_how_far_it_is_and_cleans_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", sys.stderr)
    said = steps(Console(), [0.1, 0.4, 0.45, 1.0], Terminal())
    assert "2 of 4" in said
    assert "3 of 4" not in said  # too soon after the one before
    assert "4 of 4" in said
    assert said.endswith("\r")
    assert said.rsplit("\r", 2)[1].strip() == ""


def test_a_short_job_a_pipe_and_quiet_show_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", sys.stderr)
    assert steps(Console(), [0.1, 0.2], Terminal()) == ""
    assert steps(Console(), [0.5, 1.0], io.StringIO()) == ""
    assert steps(Console(quiet=True), [0.5, 1.0], Terminal()) == ""
