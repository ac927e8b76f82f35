"""Requests of one kind choose from the small library in ``kinds``.

``python -m benchmarks quality`` prints the table.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import skillyard as sy
from benchmarks.choices import PUBLIC, ROWS, Labelled, Result, choices, of_kind
from benchmarks.choices import table as table_lines
from skillyard.cli import main
from tests.parity.trees import write_tree
from tests.tables import for_each
from tests.worked_examples.making import document

EXAMPLES = Path(__file__).parents[3] / "examples" / "skills"
LIMITS = {
    "about_skills": (52, 0),
    "excluded_by_skill": (54, 0),
    "logs": (58, 1),
    "quoted_phrases": (67, 0),
    "words": (51, 3),
}
"""By kind: requests that choose rightly, at least, and wrongly, at most; held out and not."""


@for_each("kind", LIMITS)
def test_requests_of_a_kind_choose_rightly(kind: str) -> None:
    counts = Counter(choice.outcome for choice in choices(of_kind(kind)))
    least, most = LIMITS[kind]
    assert counts["right"] + counts["rests"] >= least
    assert counts["wrong"] + counts["fires"] <= most


def test_a_skill_left_to_its_user_is_no_right_choice() -> None:
    library = [
        sy.Skill("triage", "Sorts issues.", "", disable_model_invocation=True),
        sy.Skill("qa", "Asks.", ""),
    ]
    request = Labelled(
        "here", "sort the new issues", frozenset({"triage"}), groups=("plain", PUBLIC)
    )
    assert request.among(library).outcome("") == "rests"
    assert request.among(library).outcome("qa") == "fires"
    either = request._replace(right=frozenset({"triage", "qa"}))
    assert either.among(library) is either


@for_each(
    "name,request_text,sentence",
    [
        (
            "code-review",
            "what does the code-review skill do?",
            "The request only speaks about code-review, so it has no rank.",
        ),
        (
            "csv-cleaning",
            'clean this export\nTraceback (most recent call last):\n  File "a.py", line 3, in b\n',
            "; 2 lines of a log or code are no words",
        ),
    ],
)
def test_why_explains_it(
    name: str, request_text: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["why", name, request_text, "--explain", "--root", str(EXAMPLES)])
    assert sentence in capsys.readouterr().out


@for_each(
    "request_text,sentence",
    [
        ("create a new branch", '"create a new branch" is a phrase of its description, 100%'),
        ("name a branch for the release notes", "of the request stands in what it is not for"),
    ],
)
def test_why_explains_what_the_description_says(
    request_text: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    description = 'Names a branch. Use for "create a branch". Not for release notes.'
    write_tree(tmp_path, {"branches/SKILL.md": document("branches", description)})
    main(["why", "branches", request_text, "--explain", "--root", str(tmp_path)])
    assert sentence in capsys.readouterr().out


def test_the_table_has_a_row_for_each_kind_and_says_what_is_not_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SKILLYARD_COLLECTIONS", raising=False)
    result = Result("hybrid", list(choices(of_kind("words"))), 60.0)
    monkeypatch.setattr("benchmarks.choices.results", lambda: [result])
    table = [line.strip("| ").split(" | ") for line in table_lines()]
    rows = {row[0]: row[1:] for row in table if len(row) == 5}
    readme = (EXAMPLES.parents[1] / "README.md").read_text(encoding="utf-8")
    assert list(rows)[1:] == list(ROWS.values())
    assert rows["plain"] == ["not here", "–", "not here", "–"]
    assert rows["names and plain words"][0::2] == ["41", "17"]
    assert all(f"\n| {name} | " in readme for name in ROWS.values())
