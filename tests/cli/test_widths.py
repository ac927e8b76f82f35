"""Lists fit narrow terminals, whatever the names are written in, and a pipe gets everything."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from unicodedata import category, east_asian_width

import pytest

from skillyard.cli.blocks import Column, Table
from skillyard.cli.plain import width_of
from tests.cli.conftest import Run
from tests.cli.making import write
from tests.cli.terminal import on_terminal, render

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a pty is a POSIX terminal")

_STYLES = re.compile(r"\x1b\[[0-9;]*m")
SKILL = "---\nname: {}\ndescription: {}\ntags: [{}]\n---\nDo it.\n"
NAMES = {
    "csv-cleaning": "data, etl, tables, spreadsheets, import, delimiters",
    "数据清洗与电子表格导入检查": "数据, 清洗",
    "تنظيف-الملفات-القديمة": "ملفات",
    "ניקוי-קבצים": "קבצים",
    "très-long-nom-de-compétence-qui-ne-finit-jamais-vraiment": "français",
    "e\u0301te\u0301": "",
}


def library(folder: Path) -> Path:
    """A library in which every column has something long or wide."""
    tree = {
        f"skills/{name}/SKILL.md": SKILL.format(name, "D.", tags) for name, tags in NAMES.items()
    }
    tree["skills/emoji/SKILL.md"] = SKILL.format(
        "emoji", "Rockets.", "🚀 launch, 👨\u200d👩\u200d👧 family"
    )
    tree["skills/.skills/hid.md"] = "---\nname: hid\ndescription: D.\ntrigger: true\n---\nB.\n"
    tree["skills/a/very/deep/folder/with/many/parts/broken/SKILL.md"] = "---\nname: [\n---\n"
    write(folder, tree)
    return folder


def columns_of(line: str) -> int:
    """Return the columns of a line by Unicode's own tables: an oracle beside the program's."""
    return sum(
        2 if east_asian_width(char) in "WF" else category(char) not in ("Mn", "Me", "Cf")
        for char in line
    )


@pytest.mark.parametrize("width", [50, 80])
@pytest.mark.parametrize("plain", [False, True], ids=["drawn", "plain"])
def test_a_list_fits_the_terminal(width: int, plain: bool, tmp_path: Path) -> None:
    settings = {"NO_COLOR": "1"} if plain else {}
    shown = _STYLES.sub("", on_terminal(width, library(tmp_path), "list", **settings))
    lines = shown.split("\n")
    too_wide = [line for line in lines if columns_of(line) > width and " " in line.strip()]
    words = [word for line in lines for word in line.split(" ") if columns_of(line) > width]
    assert too_wide == []
    assert all("/broken/SKILL.md:3:1:" in word for word in words)  # paths stay whole: clickable
    rows = [line for line in lines if re.match(r"\s*(csv-cleaning|emoji|hid)\b", line)]
    assert len(rows) == 3  # each skill is one row: nothing wrapped
    head = next(line for line in lines if line.strip().lower().startswith("skill"))
    assert ("path" in head.lower()) == (width == 80)
    assert "tokens" in head.lower()


@pytest.mark.parametrize("width", [50, 80])
def test_columns_stay_aligned_below_wide_and_right_to_left_names(
    width: int, tmp_path: Path
) -> None:
    shown = on_terminal(width, library(tmp_path), "list", NO_COLOR="1")
    starts = set()
    for name in ("csv-cleaning", "数据清洗", "تنظيف", "ניקוי", "e\u0301te\u0301", "emoji"):
        (row,) = [line for line in shown.split("\n") if line.startswith(name)]
        tokens = re.search(r" (\d+)  ", row + "  ")
        assert tokens is not None
        starts.add(columns_of(row[: tokens.end(1)]))
    assert len(starts) == 1


def test_a_pipe_gets_every_column_whole(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(library(tmp_path))
    monkeypatch.setenv("COLUMNS", "50")
    out = run("list").out
    assert out.split("\n")[0].split() == ["SKILL", "LAYOUT", "TOKENS", "TAGS", "REMARKS", "PATH"]
    for name, tags in NAMES.items():
        assert f"skills/{name}/SKILL.md" in out
        assert tags in out
    assert "…" not in out


def test_what_may_be_dropped_goes_before_anything_is_cut_below_its_least() -> None:
    table = Table(
        (Column("name"), Column("a", drop=1), Column("b", drop=2), Column("c", wide=True)),
        [["n" * 10, "a" * 10, "b" * 10, "c" * 30]],
    )
    heads = [next(iter(render(table, width))).split() for width in (80, 46, 45, 33, 22, 12)]
    assert heads[:4] == [
        ["NAME", "A", "B", "C"],
        ["NAME", "A", "B", "C"],
        ["NAME", "A", "C"],
        ["NAME", "C"],
    ]
    for width in (12, 22, 33, 45, 46, 80):
        assert max(map(width_of, render(table, width))) <= width


def test_the_width_of_text_is_never_below_what_a_terminal_takes() -> None:
    assert [width_of(text) for text in ("❤️", "数据", "e\u0301", "ا", "नि", "🇩🇪", "👍🏽")] == [
        2, 4, 1, 1, 2, 2, 4,
    ]  # fmt: skip
    assert width_of("👨\u200d👩\u200d👧") == 6
