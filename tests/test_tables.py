"""A table runs every row, names the one that fails, and gives each its own folder and patches."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tables import for_each

pytest_plugins = ["pytester"]

_SUITE = """
from tests.tables import for_each

@for_each("number, word", [(1, "one"), (2, "wrong"), (3, "three")])
def test_words(number, word):
    print()
    print("row", number, word)
    assert word == {1: "one", 2: "two", 3: "three"}[number]
"""


def test_every_row_runs_and_the_one_that_fails_is_named(pytester: pytest.Pytester) -> None:
    pytester.syspathinsert(Path(__file__).parents[1])
    pytester.makepyfile(_SUITE)
    result = pytester.runpytest("-p", "no:cacheprovider", "-s")
    result.stdout.fnmatch_lines(["*2, 'wrong'*"])
    assert result.ret == 1
    assert [line for line in result.outlines if line.startswith("row ")] == [
        "row 1 one", "row 2 wrong", "row 3 three"
    ]  # fmt: skip


@for_each("number", range(3))
def test_a_row_has_a_folder_and_patches_of_its_own(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not hasattr(test_a_row_has_a_folder_and_patches_of_its_own, "patched")
    monkeypatch.setattr(
        test_a_row_has_a_folder_and_patches_of_its_own, "patched", number, raising=False
    )
    (tmp_path / "file").touch(exist_ok=False)


@for_each("left", [1, 2])
@for_each("right", [10, 20])
def test_tables_stand_on_each_other(left: int, right: int) -> None:
    assert left < right


@for_each("number", [1, pytest.param(2, marks=pytest.mark.skip(reason="its data is not here"))])
def test_a_row_without_its_data_is_not_run(number: int) -> None:
    assert number == 1


@for_each(
    ("names", "rows", "message"),
    [
        ("a", [], "no rows"),
        ("a, b", [(1, 2), (3,)], "a row of 1 values"),
        ("a", [pytest.param(1, marks=pytest.mark.slow)], "a row with a mark"),
    ],
)
def test_a_table_that_cannot_be_run_is_refused(
    names: str, rows: list[object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        for_each(names, rows)
