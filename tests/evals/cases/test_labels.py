"""Labels that people wrote are read line by line, and every fault names its line."""

from __future__ import annotations

from pathlib import Path

from skillyard.evals.cases.labels import Label, read_labels
from tests.tables import for_each


def write(folder: Path, text: str) -> Path:
    path = folder / "labels.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def test_labels_come_in_the_order_of_the_file_without_blank_and_comment_lines(
    tmp_path: Path,
) -> None:
    text = '# by two of us\n\n{"id": "b/0/0/x/y", "winner": "x"}\n{"id": "a", "winner": "tie"}\n'
    data = read_labels(write(tmp_path, text))
    assert data.cases == (Label("b/0/0/x/y", "x"), Label("a", "tie"))
    assert not data.diagnostics


@for_each(
    ("line", "message"),
    [
        ('{"id": "a"}', "winner"),
        ('{"winner": "tie"}', "id"),
        ('{"id": 3, "winner": "tie"}', "id"),
        ('{"id": "a", "winner": "tie", "score": 3}', "score"),
        ('["a", "tie"]', "object"),
        ("{", ""),
    ],
)
def test_a_bad_line_is_told_with_its_number_and_the_others_are_read(
    tmp_path: Path, line: str, message: str
) -> None:
    data = read_labels(write(tmp_path, f'{{"id": "good", "winner": "tie"}}\n{line}\n'))
    assert data.cases == (Label("good", "tie"),)
    assert data.errors
    assert {error.line for error in data.errors} == {2}
    assert any(message in error.message for error in data.errors)


def test_a_case_is_labelled_once(tmp_path: Path) -> None:
    one = '{"id": "a", "winner": "tie"}\n'
    data = read_labels(write(tmp_path, one + one))
    assert data.cases == (Label("a", "tie"),)
    assert [error.line for error in data.errors] == [2]
