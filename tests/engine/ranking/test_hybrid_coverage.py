"""What a long request gives a skill that covers much of it: when, how much, and that it is told."""

from __future__ import annotations

import random
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skillyard as sy
from skillyard.engine.index.facet_terms import SHORT_BODY_TERMS
from skillyard.engine.ranking.hybrid import HYBRID, Fusion, Hybrid
from skillyard.engine.ranking.hybrid.scorer import ScoredHybrid
from tests.engine.ranking.test_hybrid import leaves_add_up
from tests.engine.ranking.test_hybrid_feedback import LIBRARY, TASK
from tests.worked_examples.making import catalog, skill

GERMAN = """
Das Labor eines Krankenhauses bekam zwei Dateien mit den Varianten desselben Patienten, und die
Ärzte verstehen nicht, warum die Listen nicht gleich sind. Bringe beide Dateien in eine Form, die
man vergleichen kann: verschiebe Einschub und Löschung nach links, teile die Allele, entferne
doppelte Zeilen, behalte nur Stellen mit genug Tiefe und Qualität, und vergleiche die Einträge,
die übrig sind. Liefere eine Tabelle mit den Zahlen vor und nach jedem Schritt, einen Brief für die
Ärzte und ein Skript, das alles auf einem anderen Rechner ohne Netz wiederholt, dazu Bericht, Plan,
Diagramm, Test, Protokoll, Datenbank, Sicherung und Rechnung für den Kunden am Freitag im Büro.
"""


def asked(text: str, *skills: sy.Skill, scorer: Hybrid = HYBRID) -> ScoredHybrid:
    return scorer.bind(catalog(*(skills or LIBRARY))).prepare(sy.Query(text))


class TestWhen:
    def test_a_long_request_asks_what_is_covered_and_a_short_one_does_not(self) -> None:
        assert asked(TASK).candidates.coverage
        assert not asked("compare two lists of genetic variants").candidates.coverage

    def test_a_request_in_another_language_does_not(self) -> None:
        scored = asked(GERMAN)
        assert scored.candidates.feedback is not None
        assert not scored.analysed.is_english
        assert not scored.candidates.coverage

    def test_a_skill_that_is_called_stays_first(self) -> None:
        called = f"@bread-baking {TASK}"
        assert not asked(called).candidates.coverage
        assert sy.rank(LIBRARY, called, limit=1)[0].skill.name == "bread-baking"

    def test_only_as_many_as_the_fusion_says_are_asked(self) -> None:
        assert len(asked(TASK, scorer=Hybrid(Fusion(covered=3))).candidates.coverage) == 3
        assert not asked(TASK, scorer=Hybrid(Fusion(covered=0))).candidates.coverage


class TestHowMuch:
    def test_the_share_is_that_of_the_terms_the_skill_contains_by_rarity(self) -> None:
        scored = asked(TASK)
        searcher = scored.bound.library.searcher
        total = sum(term.rarity for term in scored.analysed.terms)
        for ordinal, cover in scored.candidates.coverage.items():
            impacts = searcher.impacts(ordinal, [term.text for term in scored.analysed.terms])
            present = [t.rarity for t, i in zip(scored.analysed.terms, impacts, strict=True) if i]
            assert cover.share == pytest.approx(sum(present) / total)
            assert cover.cosine == scored.candidates.cosines[ordinal]

    @given(st.integers(0, 20 * SHORT_BODY_TERMS))
    def test_the_length_is_that_of_the_body_from_a_short_one_on(self, words: int) -> None:
        body = "dough " * words
        one = skill("vcf-filtering", "Filters VCF records by depth and genotype.", body)
        scored = asked(TASK, one, *(s for s in LIBRARY if s.name != one.name))
        (cover,) = [
            cover
            for ordinal, cover in scored.candidates.coverage.items()
            if scored.bound.library.skill(ordinal).name == one.name
        ]
        assert cover.length == pytest.approx(
            log(max(words, SHORT_BODY_TERMS) / SHORT_BODY_TERMS), abs=1e-5
        )

    def test_of_two_that_hold_the_same_the_longer_gets_less(self) -> None:
        rest = "dough " * (10 * SHORT_BODY_TERMS)
        long = skill("vcf-filtering", "Filters VCF records by depth.", f"Physicians. {rest}")
        short = skill("vcf-filter", "Filters VCF records by depth.", "Physicians.")
        signals = {m.skill.name: m.signals for m in sy.rank(catalog(long, short), TASK, limit=None)}
        assert signals["vcf-filter"]["coverage"] > signals["vcf-filtering"].get("coverage", 0.0)

    def test_the_least_of_the_best_gets_nothing_and_nobody_less(self) -> None:
        given_points = [cover.points for cover in asked(TASK).candidates.coverage.values()]
        assert min(given_points) == 0.0
        assert max(given_points) > 0.0


WORDS = TASK.replace(",", " ").replace(".", " ").split()


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(75, 140))
def test_the_points_of_a_skill_are_those_that_order_it(seed: int, length: int) -> None:
    words = random.Random(seed).choices(WORDS, k=length)
    scored = asked(f"{' '.join(words)} {' '.join(dict.fromkeys(WORDS))}")
    assert scored.candidates.coverage
    for one, score in scored.scores():
        tree = scored.explain(one)
        assert tree.value == score
        leaves_add_up(tree)
        ordinal = scored.bound.library.ordinal(one)
        assert ordinal is not None
        assert tree.parts[0].value == scored.totals[ordinal]


def test_the_explanation_says_how_much_is_covered() -> None:
    (match,) = sy.rank(LIBRARY, TASK, limit=1)
    (part,) = [part for part in match.explanation.raw().parts if part.label == "coverage"]
    assert part.value == match.signals["coverage"] > 0.0
    assert part.note.startswith("covers ")
