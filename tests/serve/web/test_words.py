"""What happened is said in words that need no manual."""

from __future__ import annotations

from skillyard.install.search import SourceStatus
from skillyard.serve.web.words import (
    failure_words,
    number,
    reason_words,
    score_words,
    sentence,
    status_words,
)
from tests.tables import for_each


@for_each(
    ("value", "said"),
    [
        (0.0, "0"), (0.126, "0.13"), (0.0004, "< 0.001"), (0.004, "0.004"),
        (-0.0004, "> −0.001"), (-3.0, "-3.00"),
        (45.25, "45.2"), (1234.5, "1,234"), (float("nan"), "–"), (float("inf"), "–"), (1.0, "1.00"),
    ],
)  # fmt: skip
def test_a_number_has_few_digits_and_is_never_rounded_to_nothing(value: float, said: str) -> None:
    assert number(value) == said


@for_each(
    ("status", "said"),
    [
        (SourceStatus("a", "ok", 1), "1 skill found"),
        (SourceStatus("a", "failed", 0, "rate_limited", "x", 39.2),
         "rate-limited, try again in 40 s"),
        (SourceStatus("a", "failed", 0, "rate_limited", "x", 0), "rate-limited, try again in 1 s"),
        (SourceStatus("a", "failed", 0, "rate_limited", "x", 1_800),
         "rate-limited, try again in 30 min"),
        (SourceStatus("a", "failed", 0, "rate_limited", "x", 90_000),
         "rate-limited, try again in 25 h"),
        (SourceStatus("a", "partial", 2, "timeout", "x"),
         "2 skills found, but one place did not answer in time"),
        (SourceStatus("a", "failed", 0, "a new kind", "x"), "failed"),
    ],
)  # fmt: skip
def test_a_source_says_what_it_did_and_when_to_come_back(status: SourceStatus, said: str) -> None:
    assert status_words(status) == said


def test_a_message_becomes_a_sentence() -> None:
    assert [sentence(text) for text in ("limit is 5", "Why?", "")] == ["Limit is 5.", "Why?", "."]


def test_a_wait_that_is_no_number_is_not_said() -> None:
    assert failure_words("rate_limited", float("inf")) == "rate-limited"


def test_a_score_is_printed_digit_by_digit_as_on_the_command_line() -> None:
    assert [score_words(score) for score in (0.98201, 0.0049, 45.25, float("nan"))] == [
        "0.98", "0.00", "45.25", "–",
    ]  # fmt: skip


def test_what_a_scorer_matched_becomes_part_of_a_sentence() -> None:
    assert reason_words("words: pdf, form | called by name | meaning: 0.85") == (
        "words pdf, form; called by name; meaning 0.85"
    )
    assert reason_words("") == ""
    assert len(reason_words("x" * 10_000)) <= 300
