"""The phrases of a library that stand in a request."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.index.facet_terms import MAX_PHRASE_WORDS, PHRASE, PHRASE_START, find_phrases

WORDS = st.lists(st.sampled_from("abc"), max_size=12)
PHRASES = st.sets(st.lists(st.sampled_from("abc"), min_size=2, max_size=7).map(" ".join))


def marks_of(phrases: set[str]) -> set[str]:
    kept = [phrase.split() for phrase in phrases if len(phrase.split()) <= MAX_PHRASE_WORDS]
    starts = {PHRASE_START + " ".join(words[:2]) for words in kept if len(words) > 2}
    return {PHRASE + " ".join(words) for words in kept} | starts


@given(words=WORDS, phrases=PHRASES)
def test_every_phrase_that_stands_there_is_found_once_where_it_starts(
    words: list[str], phrases: set[str]
) -> None:
    marks = marks_of(phrases)
    expected = [
        " ".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 2, min(start + MAX_PHRASE_WORDS, len(words)) + 1)
        if " ".join(words[start:end]) in phrases
    ]
    found = find_phrases(words, lambda asked: [mark for mark in asked if mark in marks])
    assert found == list(dict.fromkeys(expected))


def test_longer_runs_are_looked_up_only_where_a_phrase_starts() -> None:
    asked: list[str] = []

    def known(marks: list[str]) -> list[str]:
        asked.extend(marks)
        return [mark for mark in marks if mark == PHRASE_START + "b c"]

    assert find_phrases(["a", "b", "c", "d"], known) == []
    calls = [mark[1:] for mark in asked if mark.startswith(PHRASE)]
    assert calls == ["a b", "b c", "b c d", "c d"]
