"""Near-identical word sets: the same pairs as comparing all with all, at the cost of few."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillyard.check.validation import similarity
from skillyard.check.validation.similarity import MIN_WORDS, Pair, near_pairs, words
from tests.property.strategies import many

_WORDS = st.frozensets(st.sampled_from([f"w{number}" for number in range(14)]), max_size=9)


def _likeness(one: frozenset[str], two: frozenset[str]) -> float:
    return len(one & two) / len(one | two) if one | two else 0.0


def _by_comparing_all(sets: list[frozenset[str]], threshold: float) -> list[Pair]:
    pairs = []
    for later, mine in enumerate(sets):
        if not mine:
            continue
        if mine in sets[:later]:
            pairs.append(Pair(later, sets.index(mine), 1.0))
            continue
        near = [
            (-_likeness(mine, theirs), earlier)
            for earlier, theirs in enumerate(sets[:later])
            if min(len(mine), len(theirs)) >= MIN_WORDS and theirs not in sets[:earlier]
        ]
        if near and -min(near)[0] >= threshold:
            pairs.append(Pair(later, min(near)[1], -min(near)[0]))
    return pairs


@many
@given(st.lists(_WORDS, max_size=14), st.sampled_from([0.5, 0.6, 0.75, 0.8, 1.0]))
def test_the_pairs_are_those_of_comparing_all_with_all(
    sets: list[frozenset[str]], threshold: float
) -> None:
    assert near_pairs(sets, threshold) == _by_comparing_all(sets, threshold)


def test_no_set_is_compared_with_more_than_the_bound() -> None:
    compared = 0

    class Counting(frozenset[str]):
        def __and__(self, other: object) -> frozenset[str]:
            nonlocal compared
            compared += 1
            return frozenset(self).__and__(frozenset(other))  # type: ignore[call-overload]

    shared = [f"common{number}" for number in range(6)]
    sets = [Counting([*shared, f"own{number}", f"mine{number}"]) for number in range(400)]
    near_pairs(sets, 0.5)
    assert 0 < compared <= similarity.MAX_COMPARED * len(sets)


def test_chinese_text_gives_pairs_of_letters() -> None:
    assert words("填写表单 pdf") == {"填写", "写表", "表单", "pdf"}
