"""The words of skills are kept within a bound, and one skill counts alike in every company."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import Query, Skill
from skillyard.engine.ranking.field_hits import DirectFields, FieldHits, InvertedFields
from skillyard.engine.ranking.field_words import (
    BODY_CHARS,
    FieldWords,
    FieldWordsCache,
    terms,
    texts_of,
)
from skillyard.engine.ranking.relevance import MAX_DIRECT_SKILLS, RELEVANCE

WORDS = (
    *("pdf", "pdfs", "research", "researcher", "researching", "run", "running", "runs", "test"),
    *("tests", "testing", "tester", "deploy", "deployed", "skis", "ski", "dying", "die", "Straße"),
    *("naïve", "Ünit", "日本語", "テスト", "ไทย", "a", "ab", "c3po", "résumé", "İstanbul", "ﬁle"),
)
TEXT = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
SKILLS = st.builds(
    Skill,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("-".join),
    TEXT,
    st.none() | TEXT,
    title=st.none() | TEXT,
    install_count=st.integers(0, 20_000),
    curated=st.booleans(),
)
QUERIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join) | st.text(
    min_size=1, max_size=20
)

_MEASURED = """
import gc, tracemalloc
from skillyard.engine.ranking.field_words import FieldWordsCache
from skillyard.engine.skill import Skill
texts = [" ".join(f"w{n}x{m}" for m in range(200)) for n in range(100)]
skills = [Skill(f"s{n}", "", text) for n, text in enumerate(texts)]
FieldWordsCache().of(skills)  # what is loaded at first use is not counted
kept = FieldWordsCache()
gc.collect()
tracemalloc.start()
kept.of(skills)
gc.collect()
print(tracemalloc.get_traced_memory()[0], kept.size)
"""


def apart(skills: list[Skill]) -> list[Skill]:
    return [skill.replace(path=f"{number}/SKILL.md") for number, skill in enumerate(skills)]


@given(st.lists(SKILLS, min_size=1, max_size=6), QUERIES)
def test_both_ways_find_the_same_terms_in_the_same_fields(skills: list[Skill], query: str) -> None:
    asked = list(dict.fromkeys(terms(query)))
    few, inverted = DirectFields(skills), InvertedFields(skills)
    one, other = few.hits(asked), inverted.hits(asked)
    assert one._replace(matched=set()) == other._replace(matched=set())
    for number in range(len(skills)):
        assert few.id_words(number) == inverted.id_words(number)
        assert few.plain_id(number) == inverted.plain_id(number)
        assert _covered(one, few, number) == _covered(other, inverted, number)


def _covered(hits: FieldHits, words: DirectFields | InvertedFields, number: int) -> bool:
    """Whether a term matched every word of an id that holds a term."""
    return bool(hits.id[number]) and hits.matched.issuperset(words.id_words(number))


@given(SKILLS, st.lists(SKILLS, max_size=4), QUERIES)
def test_a_skill_has_one_score_in_every_set_of_candidates(
    skill: Skill, others: list[Skill], query: str
) -> None:
    many = [
        Skill(f"filler-{number}", "Nothing.", "Nothing.") for number in range(MAX_DIRECT_SKILLS)
    ]
    found = []
    for company in ([], others, [*others, *many]):
        skills = apart([skill, *company])
        scored = RELEVANCE.bind(skills).prepare(Query(query))
        score = {id(each): points for each, points in scored.scores()}[id(skills[0])]
        explained = scored.explain(skills[0])
        assert explained.value == pytest.approx(score)
        found.append((score, explained, scored.tie_break(skills[0]), scored.tier(skills[0])))
    assert all(one == other for one, other in pairwise(found))


def test_what_lies_beyond_the_first_characters_of_a_body_is_not_read() -> None:
    skill = Skill("a", "b", "x " * (BODY_CHARS // 2) + "needle")
    assert not FieldWords(texts_of(skill)).holding("needle", "needl")
    assert FieldWords(texts_of(skill)).holding("x", "x")


class TestKept:
    def test_the_same_texts_are_read_once(self) -> None:
        kept = FieldWordsCache()
        skill = Skill("pdf-tables", "Extract tables.", "Use a ruler.")
        (first,) = kept.of([skill])
        (again,) = kept.of([skill.replace(install_count=5, source="a/b")])
        assert again is first
        assert len(kept) == 1

    def test_a_hash_that_was_given_decides_nothing(self) -> None:
        kept = FieldWordsCache()
        one, other = kept.of([Skill("a", "b", "pdf", hash="0"), Skill("a", "b", "csv", hash="0")])
        assert (one.holding("pdf", "pdf"), other.holding("pdf", "pdf")) == (8, 0)

    def test_it_is_bounded_and_forgets_what_was_asked_for_longest_ago(self) -> None:
        skills = [Skill(f"skill-{n}", f"Words of {n}.", f"word{n} " * 20) for n in range(50)]
        one = FieldWords(texts_of(skills[0])).size
        kept = FieldWordsCache(10 * one)
        first = kept.of(skills[:1])[0]
        for skill in skills[1:]:
            kept.of([skill])
            assert kept.size <= 10 * one
            assert kept.of(skills[:1])[0] is first
        assert 5 <= len(kept) <= 10
        assert kept.size == sum(FieldWords(t).size for t in kept._cache)

    def test_what_is_larger_than_everything_is_read_and_not_kept(self) -> None:
        kept = FieldWordsCache(1_000)
        (words,) = kept.of([Skill("a", "b " + "long " * 1_000, None)])
        assert words.holding("long", "long")
        assert (len(kept), kept.size) == (0, 0)

    def test_its_count_is_no_less_than_what_the_words_take(self) -> None:
        # In a process of its own: the interpreter's table of interned strings grows by doubling,
        # and after ten thousand other tests one doubling is more than all that is kept here.
        done = subprocess.run([sys.executable, "-c", _MEASURED], capture_output=True, check=True)
        taken, counted = map(int, done.stdout.split())
        assert 0 < taken <= counted

    def test_many_threads_get_the_same_words(self) -> None:
        skills = [Skill(f"skill-{n}", "d", f"running word{n} " * 10) for n in range(40)]
        kept = FieldWordsCache(8 * FieldWords(texts_of(skills[0])).size)
        alone = [FieldWords(texts_of(skill)) for skill in skills]

        def asked(turn: int) -> bool:
            found = kept.of(skills[turn % 40 :])
            return all(
                one.id_words == other.id_words and one.holding("runs", "run") == 8
                for one, other in zip(found, alone[turn % 40 :], strict=True)
            )

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(asked, range(200)))
        assert kept.size == sum(words.size for words in kept._cache.values())
