"""The facts behind the probability of ``hybrid``: what tells a near miss from what fits."""

from __future__ import annotations

from math import log

import pytest

import skillyard as sy
from skillyard import Query
from skillyard.engine.ranking.hybrid import HYBRID
from skillyard.engine.ranking.hybrid.calibration import MAX_NAMES_PER_THOUSAND
from skillyard.engine.ranking.hybrid.constants import Features
from tests.tables import for_each
from tests.worked_examples.making import catalog, skill

LIBRARY = catalog(
    skill("git-bisect", "Finds the commit that broke the build, by halving."),
    skill("git-revert", "Takes back a commit that was merged."),
    skill("csv-cleaning", "Repairs messy CSV files before an import."),
    skill("test-writer", "Writes tests for code that has none."),
)


TASK = "clean the export of the shop before it is read, and write down what was changed"


def facts(text: str) -> Features:
    found = HYBRID.bind(LIBRARY).prepare(Query(text)).features
    assert found is not None
    return found


class TestStrange:
    def test_a_thing_that_nobody_knows_is_missing(self) -> None:
        assert facts("which commit broke the build").out_of_vocabulary == 0.0
        assert facts("which commit broke the vielle").out_of_vocabulary > 0.0

    def test_a_word_that_the_skill_holds_is_not_strange(self) -> None:
        library = catalog(skill("zorbles", "Counts zorbles and quaxes."))
        found = HYBRID.bind(library).prepare(Query("count zorbles and quaxes")).features
        assert found is not None
        assert found.out_of_vocabulary == 0.0

    def test_in_another_language_every_word_may_be_rare(self) -> None:
        assert (
            facts("Wie finde ich den Commit, der den Build kaputt gemacht hat?").out_of_vocabulary
            == 0.0
        )


class TestInNames:
    def test_words_that_name_skills_count(self) -> None:
        assert facts("tidy the csv").in_names > facts("tidy the hedge").in_names == 0.0

    def test_mere_talk_names_none(self) -> None:
        assert facts("test").in_names == 0.0 < facts("git test").in_names

    @for_each("number", [3, 30])
    def test_more_names_than_are_usual_say_no_more(self, number: int) -> None:
        many = catalog(*(skill(f"git-{place}", "Does something.") for place in range(number)))
        found = HYBRID.bind(many).prepare(Query("git")).features
        assert found is not None
        assert found.in_names == pytest.approx(log(1.0 + MAX_NAMES_PER_THOUSAND))


class TestWordsAndMeaning:
    def test_what_is_missing_may_be_near(self) -> None:
        near, far = facts("a commit and a regression"), facts("a commit and an omelette")
        assert near.unmatched_cosine > far.unmatched_cosine

    def test_nothing_missing_is_near_nothing(self) -> None:
        assert facts("commit").unmatched_cosine == 0.0

    def test_the_lead_is_over_the_best_of_the_others(self) -> None:
        library = catalog(*(skill(f"csv-{place}", "Repairs CSV files.") for place in range(12)))
        among_many = HYBRID.bind(library).prepare(Query("csv")).features
        assert among_many is not None
        assert among_many.lead == pytest.approx(0.0, abs=0.01)
        alone = facts("csv")
        assert alone.lead == pytest.approx(alone.beyond, rel=0.2)
        assert alone.lead > 1.0

    def test_another_skill_may_be_nearer(self) -> None:
        library = catalog(*(skill(f"csv-{place}", "Repairs CSV files.") for place in range(12)))
        found = HYBRID.bind(library).prepare(Query("csv")).features
        assert found is not None
        assert found.ahead <= 0.0 < facts("csv").ahead


class TestPassage:
    def test_what_stands_together_counts(self) -> None:
        talk = (
            "we moved house last spring and the neighbours painted their wooden fence bright green"
        )
        together = facts(f"find the commit that broke the build by halving. {talk}")
        assert together.passage_share > facts(f"{talk} csv {talk}").passage_share > 0.0

    def test_a_short_request_is_one_passage(self) -> None:
        found = facts("commit build omelette")
        assert 0.0 < found.passage_share < 1.0


class TestOneWord:
    """One shared word that names nothing is at most a question, however small the library."""

    TINY = ("git-bisect", "Finds the commit that broke the build, by halving.")

    @for_each(
        ("text", "verdict"),
        [
            ("find a good plumber", "maybe"),
            ("find a good restaurant near me", "none"),
            ("which commit broke the build", "selected"),
            ("what is the weather in Paris", "none"),
        ],
    )
    def test_it_chooses_nothing(self, text: str, verdict: str) -> None:
        selection = sy.select(catalog(skill(*self.TINY)), text)
        chosen = {"selected": selection.selected, "maybe": selection.maybe}
        said = [name for name, matches in chosen.items() if matches]
        assert said == ([] if verdict == "none" else [verdict])

    def test_a_word_of_the_name_is_enough(self) -> None:
        library = catalog(skill("csv-cleaning", "Repairs messy CSV files before an import."))
        assert sy.select(library, "broken csv").selected
        assert not sy.select(library, "repair my bicycle").selected


class TestSituation:
    def test_it_knows_length_and_size(self) -> None:
        bound = HYBRID.bind(LIBRARY)
        few, many = (bound.prepare(Query(text)).query_features for text in ("csv", "csv " + TASK))
        assert few.length < 0.0 < few.short
        assert few.length < many.length
        assert few.size == many.size < 0.0
        assert many.both == many.length * many.size

    def test_it_knows_other_languages(self) -> None:
        prepared = HYBRID.bind(LIBRARY).prepare(Query("Wie finde ich den kaputten Commit?"))
        assert prepared.query_features.foreign == 1.0
