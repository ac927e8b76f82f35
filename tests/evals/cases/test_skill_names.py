"""Whether a prompt names the skill under test: by itself, in any spelling, and not by accident."""

from __future__ import annotations

from skillyard.evals.cases.skill_cases import find_name
from tests.tables import for_each


@for_each(
    "prompt",
    [
        "run code-review on this",
        "Run Code_Review on this",
        "use the code review skill",
        "which skill? skill named code-review",
        "@code-review please",
        "/code-review",
        "[skill:code-review]",
        "code-review's answer",
        "what about 'code-review'?",
        "see src/code-review/x.py",
    ],
)
def test_a_prompt_that_names_the_skill(prompt: str) -> None:
    assert find_name(prompt, "code-review") is not None


@for_each(
    "prompt",
    [
        "I need a code review of this",
        "my-code-review bot is broken",
        "code-reviewer wanted",
        "code-review-tools are broken",
        "precode-review",
        "code--review",
        "review the code",
        "",
    ],
)
def test_a_prompt_that_only_shares_words(prompt: str) -> None:
    assert find_name(prompt, "code-review") is None


@for_each(
    ("prompt", "named"),
    [
        ("merge these pdf files", False),
        ("is it a PDF?", False),
        ("docs/pdf/x.txt", False),
        ("and/or /pdf.txt", False),
        ("/pdf merge these", True),
        ("@pdf merge these", True),
        ("the PDF skill should do it", True),
        ("with the skill pdf", True),
        ("[skill: pdf]", True),
    ],
)
def test_an_ordinary_word_is_a_name_only_where_the_prompt_makes_it_one(
    prompt: str, named: bool
) -> None:
    assert (find_name(prompt, "pdf") is not None) is named
