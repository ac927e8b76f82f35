"""What a long request follows: what that changes, what it leaves, and that it is explained."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skillyard as sy
from skillyard.engine.index.token_table import UNIT
from skillyard.engine.ranking.hybrid import HYBRID, Fusion, Hybrid
from skillyard.engine.ranking.hybrid.fusion import UNIT_DOT
from skillyard.engine.ranking.hybrid.query_analysis import LONG_QUERY_TERMS, analyse_query
from tests.engine.index.memory_searcher import MemorySearcher
from tests.engine.ranking.test_hybrid import leaves_add_up
from tests.worked_examples.making import catalog, skill

LIBRARY = catalog(
    skill("variant-calling", "Calls variants from sequencing reads with bcftools."),
    skill("vcf-filtering", "Filters VCF records by depth and genotype quality."),
    skill("vcf-normalization", "Shifts indels to the left and splits alternates of a VCF."),
    skill("read-alignment", "Aligns sequencing reads to a reference genome."),
    skill("bread-baking", "Plans dough, ovens and deliveries of a bakery."),
    skill("invoice-writing", "Writes invoices and reminders for customers."),
    skill("csv-cleaning", "Repairs messy CSV tables before an import."),
    skill("git-bisect", "Finds the commit that broke the build, by halving."),
    skill("slide-design", "Makes slides for a talk from notes."),
    skill("travel-planning", "Plans journeys with trains and hotels."),
)
TASK = """
The laboratory of a hospital received two files with genetic variants of the same patient, made by
different programs, and the physicians cannot understand why the lists disagree. Bring both records
into one comparable form: shift insertions and deletions to the left, split alternate alleles,
remove duplicates, keep only positions with sufficient depth and genotype quality, and compare the
remaining entries. Deliver a table with the counts before and after every step, a short letter for
the physicians, and a script that repeats everything on another computer without any network.
Nobody has time on Monday, the bakery next door is noisy, and invoices should be ready by Friday.
"""


def follows(text: str) -> bool:
    return HYBRID.bind(LIBRARY).prepare(sy.Query(text)).candidates.feedback is not None


class TestWhen:
    def test_a_long_request_follows_its_best_skills_and_a_short_one_does_not(self) -> None:
        assert follows(TASK)
        assert not follows("compare two lists of genetic variants")

    def test_a_request_without_a_direction_is_left_as_it_is(self) -> None:
        strange = " ".join(f"zzq{number}xv" for number in range(LONG_QUERY_TERMS + 10))
        bound = HYBRID.bind(LIBRARY)
        assert len(analyse_query(sy.Query(strange), bound.vocabulary).terms)
        assert not follows(strange)
        assert sy.rank(LIBRARY, strange) == []


class TestWhat:
    def test_it_is_the_mean_of_the_request_and_of_its_best_skills_by_words(self) -> None:
        bound = HYBRID.bind(LIBRARY)
        found = bound.prepare(sy.Query(TASK)).candidates
        asked = analyse_query(sy.Query(TASK), bound.vocabulary)
        assert found.feedback is not None
        best = dict(found.feedback.best)
        assert len(best) == HYBRID.fusion.followed
        assert best.keys() <= found.word_scores.keys()
        searcher = bound.library.searcher
        parts = [(asked.vector, found.feedback.own)]
        parts += [(searcher.vector(ordinal), share) for ordinal, share in best.items()]
        mixed = [0.0] * len(asked.vector)
        for vector, share in parts:
            values = memoryview(vector).cast("b")
            mixed = [old + share * value for old, value in zip(mixed, values, strict=True)]
        direction = memoryview(found.feedback.direction).cast("b")
        assert list(direction) == pytest.approx(mixed, abs=0.6)  # rounded to whole numbers
        assert sum(value * value for value in mixed) == pytest.approx(UNIT * UNIT, rel=0.01)

    def test_all_skills_are_looked_at_in_its_direction(self) -> None:
        bound = HYBRID.bind(LIBRARY)
        found = bound.prepare(sy.Query(TASK)).candidates
        assert found.feedback is not None
        searcher = bound.library.searcher
        near = dict(searcher.semantic(found.feedback.direction, HYBRID.fusion.depth))
        assert near.keys() <= found.cosines.keys()
        assert {o: found.cosines[o] for o in near} == {o: d / UNIT_DOT for o, d in near.items()}

    def test_the_level_is_that_of_the_request_alone(self) -> None:
        bound = HYBRID.bind(LIBRARY)
        found = bound.prepare(sy.Query(TASK)).candidates
        asked = analyse_query(sy.Query(TASK), bound.vocabulary)
        ((_, dot),) = bound.library.searcher.semantic(asked.vector, 1)
        assert max(found.query_cosines.values()) == dot / UNIT_DOT < found.cosine_range[0]

    def test_a_skill_that_is_called_is_followed_whatever_its_words_are(self) -> None:
        bound = HYBRID.bind(LIBRARY)
        called = bound.prepare(sy.Query(f"@slide-design {TASK}")).candidates
        assert called.feedback is not None
        names = [bound.library.skill(ordinal).name for ordinal, _ in called.feedback.best]
        assert names[0] == "slide-design"

    def test_what_the_best_have_in_common_comes_nearer_and_the_rest_falls_back(self) -> None:
        alone = Hybrid(Fusion(feedback=0.0, followed=3))
        moved = Hybrid(Fusion(feedback=0.8, followed=3))

        def meanings(scorer: Hybrid) -> dict[str, float]:
            found = sy.rank(LIBRARY, TASK, scorer=scorer, limit=None)
            return {match.skill.name: match.signals.get("meaning", 0.0) for match in found}

        before, after = meanings(alone), meanings(moved)
        lead = [m["vcf-filtering"] - m["bread-baking"] for m in (before, after)]
        assert lead[1] > lead[0]

    def test_equal_best_skills_are_followed_in_an_order_that_does_not_change(self) -> None:
        twins = [skill(f"twin-{letter}", "Filters VCF records.") for letter in "abcdefgh"]
        expected = None
        for seed in range(4):
            random.Random(seed).shuffle(twins)
            found = sy.rank(catalog(*LIBRARY, *twins), TASK, limit=None)
            listed = sorted((match.skill.name, match.score) for match in found)
            expected = expected or listed
            assert listed == expected

    def test_segments_in_memory_are_looked_at_like_the_oracle(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = [(m.skill.name, m.score) for m in sy.rank(LIBRARY, TASK, limit=None)]
        monkeypatch.setattr("skillyard.engine.index.library.memory_searcher", MemorySearcher)
        expected = [(m.skill.name, m.score) for m in sy.rank(list(LIBRARY), TASK, limit=None)]
        assert found == expected


WORDS = TASK.replace(",", " ").replace(".", " ").split()


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(60, 140))
def test_the_explanation_of_a_long_request_is_the_whole_of_the_score(
    seed: int, length: int
) -> None:
    rng = random.Random(seed)
    words = [
        *rng.sample(WORDS, min(length, len(WORDS))),
        *(f"w{n}y" for n in range(LONG_QUERY_TERMS)),
    ]
    scored = HYBRID.bind(LIBRARY).prepare(sy.Query(" ".join(words)))
    listed = {one.name for one, _ in scored.scores()}
    for one, score in scored.scores():
        tree = scored.explain(one)
        assert tree.value == score
        leaves_add_up(tree)
    for one in LIBRARY:
        if one.name not in listed:
            leaves_add_up(scored.explain(one))


def test_the_skills_that_were_followed_are_named() -> None:
    (match,) = sy.rank(LIBRARY, TASK, limit=1)
    meaning = next(p for p in match.explanation.raw().parts if p.label == "meaning")
    labels = [part.label for part in meaning.parts]
    assert sum(label.startswith("near the skill ") for label in labels) == HYBRID.fusion.followed
    assert "its 5 best skills" in meaning.note
