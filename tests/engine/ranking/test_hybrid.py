"""``hybrid``: what counts, what the score means, and that its explanation is the whole of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillyard as sy
from skillyard.engine.ranking.hybrid import HYBRID, Hybrid
from skillyard.engine.ranking.hybrid.constants import FUSION
from skillyard.engine.ranking.hybrid.query_analysis import (
    analyse_query,
)
from skillyard.scorers import Explanation
from tests.tables import for_each
from tests.worked_examples.making import catalog, names, skill

LIBRARY = catalog(
    skill("git-bisect", "Finds the commit that broke the build, by halving.", tags=["git"]),
    skill("git-revert", "Takes back a commit that was merged.", tags=["git", "undo"]),
    skill("csv-cleaning", "Repairs messy CSV files before an import.", tags=["data"]),
    skill("sql-tuning", "Makes slow database queries fast.", tags=["data"]),
    skill("release-notes", "Writes notes of a release from the merged changes."),
    skill("wipe-disk", "Erases a disk for good.", trigger=True),
)


def best(query: str, skills: Any = LIBRARY, **more: Any) -> sy.Match:
    (match,) = sy.rank(skills, query, limit=1, **more)
    return match


class TestFinding:
    @for_each(
        ("request_", "name"),
        [
            ("which change broke our tests?", "git-bisect"),
            ("my postgres statements take ages", "sql-tuning"),
            ("undo what was merged yesterday", "git-revert"),
            ("the spreadsheet export has broken rows", "csv-cleaning"),
            ("a changelog for the new version", "release-notes"),
        ],
    )
    def test_a_skill_is_found_by_other_words_than_its_own(self, request_: str, name: str) -> None:
        assert best(request_).skill.name == name

    @for_each(
        "request_",
        ["hello there", "thanks, that was great!", "what is the capital of France?", "42"],
    )
    def test_small_talk_chooses_nothing(self, request_: str) -> None:
        assert sy.select(LIBRARY, request_).abstained

    def test_requests_in_any_script_and_of_any_length_have_an_answer(self) -> None:
        for request_ in (
            "コミットを見つける", "найди коммит", "جد الالتزام", "พบข้อผิดพลาด", "🙂" * 100,
            "find the commit " * 70_000, "x" * 1_000_000, "\ud800 commit", "a\x00b commit",
        ):  # fmt: skip
            selection = sy.select(LIBRARY, request_)
            assert len(selection.selected) <= 5


class TestEvidence:
    def test_a_called_skill_wins_and_a_hidden_one_needs_the_call(self) -> None:
        assert "wipe-disk" not in names(sy.rank(LIBRARY, "erase a disk for good"))
        called = best("find the commit that broke the build, @wipe-disk")
        assert (called.skill.name, called.level) == ("wipe-disk", "high")
        assert called.signals["called"] == FUSION.called

    def test_a_request_that_is_a_name_is_sure(self) -> None:
        for request_ in ("git bisect", "Git-Bisect!", "csv cleaning"):
            assert best(request_).level == "high", request_

    def test_a_word_of_a_name_alone_is_enough_but_talk_is_not(self) -> None:
        skills = catalog(skill("deploy-app"), skill("continue-work"))
        assert best("deploy", skills).level == "high"
        assert best("continue", skills).level == "low"
        assert best("continue", catalog(skill("continue"))).level == "low"
        assert best("@continue", catalog(skill("continue"))).level == "high"

    def test_a_trigger_phrase_that_is_half_of_the_request_is_enough(self) -> None:
        skills = catalog(
            skill("notes", "Writes notes.", triggers={"phrases": ["what changed since"]}),
            skill("other", "Does things."),
        )
        match = best("what changed since May?", skills)
        assert (match.skill.name, match.level) == ("notes", "high")
        assert match.signals["phrase"] > FUSION.phrase

    def test_a_file_that_matches_is_enough_by_itself(self) -> None:
        skills = catalog(
            skill("docker", triggers={"files": ["Dockerfile"]}), skill("other", "Does things.")
        )
        match = best("", skills, files=["app/Dockerfile"])
        assert (match.skill.name, match.level) == ("docker", "medium")
        talk = sy.Query("thanks, that was great!", files=("app/Dockerfile",))
        assert sy.select(skills, talk).abstained
        assert sy.select(skills, sy.Query(files=("main.py",))).abstained

    def test_what_a_skill_is_not_for_counts_against_it(self) -> None:
        text = "Repairs CSV files"
        skills = catalog(
            skill("a-first", f"{text}. Do not use for Excel sheets."), skill("b-second", f"{text}.")
        )
        assert best("repair CSV files, no Excel sheets", skills).skill.name == "b-second"

    def test_installs_decide_between_equals_and_never_against_a_better_match(self) -> None:
        equal = catalog(skill("a", "Repairs CSV."), skill("b", "Repairs CSV.", install_count=9_000))
        assert best("repair csv", equal).skill.name == "b"
        better = catalog(
            skill("a", "Repairs messy CSV files."),
            skill("b", "Repairs chairs.", install_count=10**9, curated=True),
        )
        assert best("repair messy CSV files", better).skill.name == "a"

    def test_tags_narrow_what_may_be_chosen(self) -> None:
        found = sy.rank(LIBRARY, "find the commit", include_tags=["data"])
        assert set(names(found)) <= {"csv-cleaning", "sql-tuning"}
        found = sy.rank(LIBRARY, "find the commit", exclude_tags=["UNDO"])
        assert "git-revert" not in names(found)
        assert sorted(names(sy.rank(LIBRARY, "", include_tags=["git"]))) == [
            "git-bisect",
            "git-revert",
        ]


class TestScore:
    def test_it_is_a_probability_with_levels(self) -> None:
        matches = sy.rank(LIBRARY, "find the commit that broke the build", limit=None)
        assert all(0.0 < match.score < 1.0 for match in matches)
        assert [m.score for m in matches] == sorted((m.score for m in matches), reverse=True)
        assert matches[0].level == "high"

    def test_what_a_library_remembers_of_terms_is_bounded_and_changes_no_answer(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("skillyard.engine.ranking.hybrid.query_analysis.MAX_CACHED_TERMS", 3)
        bound = HYBRID.bind(LIBRARY)
        query = sy.Query("find the commit that broke the build, then clean a csv file")
        first, again = (analyse_query(query, bound.vocabulary) for _ in range(2))
        assert first == again
        assert len(first.terms) > len(bound.vocabulary._known) == 3

    def test_convention_documents_are_left_out_unless_wanted(self) -> None:
        skills = catalog(skill("agents", "Rules for commits.", origin="convention"))
        assert sy.rank(skills, "rules for commits") == []
        wanted = Hybrid(include_conventions=True)
        assert names(sy.rank(skills, "rules for commits", scorer=wanted)) == ["agents"]


WORDS = st.sampled_from(
    [
        "find",
        "the",
        "commit",
        "that",
        "broke",
        "build",
        "csv",
        "repair",
        "slow",
        "database",
        "query",
        "release",
        "notes",
        "disk",
        "git",
        "bisect",
        "undo",
        "merged",
        "please",
        "deploy",
        "kubernetes",
        "Bericht",
        "@git-revert",
        "/wipe-disk",
        "Excel",
        "数据",
    ]
)


def leaves_add_up(node: Explanation) -> None:
    """The value of every sum is that of its parts, all the way down."""
    if node.parts and node.op == "sum":
        assert sum(part.value for part in node.parts) == pytest.approx(node.value, abs=1e-9)
    for part in node.parts:
        leaves_add_up(part)


@given(st.lists(WORDS, min_size=1, max_size=14), st.booleans())
def test_the_explanation_is_the_whole_of_the_score(words: list[str], files: bool) -> None:
    from math import exp

    for match in sy.rank(LIBRARY, " ".join(words), files=["a.csv"] if files else [], limit=None):
        tree = match.explanation
        assert tree.value == match.score
        leaves_add_up(tree)
        points, odds = tree.parts
        assert 1.0 / (1.0 + exp(-odds.value)) == pytest.approx(match.score)
        assert points.value == pytest.approx(sum(match.signals.values()))
