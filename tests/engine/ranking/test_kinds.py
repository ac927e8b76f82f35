"""Requests of one kind choose from the small library in ``kinds``.

``python -m benchmarks kinds`` prints the table.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import skillyard as sy
from benchmarks.kinds import outcomes, rows_of, small_library
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


@pytest.fixture(scope="module")
def library() -> sy.Catalog:
    return small_library()


@for_each("kind", LIMITS)
def test_requests_of_a_kind_choose_rightly(kind: str, library: sy.Catalog) -> None:
    counts = Counter(outcome for _, outcome, _ in outcomes(rows_of(kind), library))
    least, most = LIMITS[kind]
    assert counts["right"] >= least
    assert counts["wrong"] <= most


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
