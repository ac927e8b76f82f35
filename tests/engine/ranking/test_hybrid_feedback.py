"""What a long request follows: what that changes, what it leaves, and that it is explained."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

import skillyard as sy
from skillyard.engine.ranking.hybrid import HYBRID
from skillyard.engine.ranking.hybrid.query_analysis import LONG_QUERY_TERMS
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
