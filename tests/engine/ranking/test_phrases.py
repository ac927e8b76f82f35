"""Phrase lookup: the automaton finds what a plain search finds, and its work stays linear."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import skillyard as sy
from skillyard.engine.ranking.triggers import PhraseAutomaton
from tests.property.strategies import many

_WORDS = st.lists(st.sampled_from("abc"), max_size=12)
_PHRASES = st.lists(st.lists(st.sampled_from("abc"), max_size=4).map(tuple), max_size=8)


def plainly(phrases: list[tuple[str, ...]], words: list[str]) -> dict[int, tuple[str, ...]]:
    return {
        number: phrase
        for number, phrase in enumerate(phrases)
        if phrase
        and any(tuple(words[start : start + len(phrase)]) == phrase for start in range(len(words)))
    }


@many
@given(phrases=_PHRASES, words=_WORDS)
def test_the_automaton_finds_what_a_plain_search_finds(
    phrases: list[tuple[str, ...]], words: list[str]
) -> None:
    found = PhraseAutomaton(list(enumerate(phrases)), lambda _: False).hits(words)
    assert {number: hits[0] for number, hits in found.items()} == plainly(phrases, words)
    assert all(len(hits) == 1 for hits in found.values())


def test_phrases_that_share_their_first_word_cost_no_product() -> None:
    """5,000 phrases against 200,000 words: pair by pair this would be a thousand million steps."""
    phrases = [f"a {number:x}" for number in range(500)]
    catalog = sy.Catalog.from_skills(
        [sy.Skill(f"s{number}", "d", "b", triggers=phrases) for number in range(10)]
    )
    matches = sy.rank(catalog, "a " * 200_000 + "1 a 2", scorer="triggers")
    assert [match.score for match in matches] == [30.0] * 10  # "a 1", "a 2" and "a a"
    assert all(match.to_dict(explain=True) for match in matches)


def test_nested_suffix_phrases_are_all_found() -> None:
    found = PhraseAutomaton([(0, ("a", "b", "c")), (1, ("b", "c")), (2, ("c",))], lambda _: False)
    assert sorted(found.hits(["a", "b", "c"])) == [0, 1, 2]
