"""What ``why`` says in words is what a selection does, for every scorer and every kind of skill."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillyard as sy
from skillyard.engine.operations.skill_explanation import WhyResult, why_skill
from skillyard.engine.ranking.match import eligible, score_query
from tests.property.strategies import few, queries, skills

SCORERS = ["confidence", "hybrid", "overlap", "relevance", "triggers"]
_CHOSEN = re.compile(r"it is chosen(?:, as one of ([0-9,]+) skills)?\.$")


def catalog_of(listed: list[sy.Skill], hidden: list[bool]) -> sy.Catalog:
    """Return a catalog in which some skills are hidden, and equal names shadow one another."""
    return sy.Catalog.from_skills(
        [
            each.replace(disable_model_invocation=hide)
            for each, hide in zip(listed, hidden, strict=False)
        ]
    )


def agrees(why: WhyResult, catalog: sy.Catalog, query: sy.Query, scorer: str) -> None:
    """Fail unless each sentence says what ``sy.select`` and ``sy.rank`` do."""
    selection = sy.select(catalog, query, scorer=scorer)
    matched, close, floor = why.sentences
    skill = why.match.skill
    chosen = skill in [match.skill for match in selection.selected]
    assert why.chosen == chosen
    said = _CHOSEN.search(floor)
    assert (said is not None) == chosen
    if said is not None:
        assert int((said[1] or "1").replace(",", "")) == len(selection.selected)
    # Nothing is chosen exactly where the last sentence says so, and "perhaps" is Selection.maybe.
    assert bool(re.search("(no skill|none) is chosen", floor, re.IGNORECASE)) == selection.abstained
    perhaps = re.search("perhaps (.*) (?:is|are) meant", floor)
    assert (perhaps is not None) == bool(selection.maybe)
    if perhaps is not None:
        assert all(match.skill.name in perhaps[1] for match in selection.maybe)
    if why.rank is not None and not why.blank:
        assert ("stays under the floor" in floor) == (why.match.score < why.min_score)
        assert ("reaches the floor of" in floor.split(";")[0]) == (
            0 < why.min_score <= why.match.score
        ) or "stays" in floor
        assert ("but only the first" in floor) == (why.match.score >= why.min_score and not chosen)
        assert f"rank {why.rank} of {why.total}" in matched
    ranked = sy.rank(
        catalog,
        query.text,
        query.files,
        query.recent_activity,
        query.include_tags,
        query.exclude_tags,
        query.include_references,
        scorer=scorer,
        limit=None,
    )
    others = [match for match in ranked if match.skill is not skill]
    if not ranked:
        assert close == "No skill has a score."
    elif why.rank == 1:
        assert close.startswith(others[0].skill.name if others else "No other skill")
    elif why.rank is None:
        assert f"the best is {ranked[0].skill.name} (" in close
    else:
        assert close.startswith(ranked[0].skill.name)
        assert " higher" in close


@few
@pytest.mark.parametrize("scorer", SCORERS)
@given(
    skills(min_size=1, max_size=5), st.lists(st.booleans(), min_size=5, max_size=5), queries,
    st.sampled_from([(), ("deploy",), ("the",)]), st.sampled_from([(), ("data",)]),
)  # fmt: skip
def test_the_sentences_say_what_the_selection_does(
    scorer: str,
    listed: list[sy.Skill],
    hidden: list[bool],
    query: sy.Query,
    tags: tuple[str, ...],
    not_tags: tuple[str, ...],
) -> None:
    catalog = catalog_of(listed, hidden)
    query = query.replace(include_tags=tags, exclude_tags=not_tags)
    allowed = {
        id(skill)
        for skill, _ in eligible(
            catalog, query, zeros=True, scored=score_query(catalog, query, "overlap")[1]
        )
    }
    for skill in catalog:
        why = why_skill(catalog, skill.id, query, scorer=scorer, limit=2)
        agrees(why, catalog, query, scorer)
        if not why.blank:
            assert ("left out of the choice" in why.sentences[0]) == (id(skill) not in allowed)


def skill(name: str, text: str = "Repairs csv files.", **fields: Any) -> sy.Skill:
    return sy.Skill(name, text, "Do it.", **{"path": f"{name}/SKILL.md", **fields})


def test_a_skill_that_is_shadowed_hidden_or_excluded_is_said_to_be_left_out(
    tmp_path: Path,
) -> None:
    head = "---\nname: {0}\ndescription: Repairs csv files.\n{1}---\nDo it {2}.\n"
    for path, content in {
        "a/csv/SKILL.md": head.format("csv", "", "here"),
        "b/csv/SKILL.md": head.format("csv", "", "there"),
        "b/wipe/SKILL.md": head.format("wipe", "disable-model-invocation: true\n", ""),
        "b/odd/SKILL.md": head.format("odd", "tags: [x]\n", ""),
    }.items():
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
    catalog = sy.load_catalog(tmp_path / "a", tmp_path / "b")
    by_path = {each.path.removeprefix(f"{tmp_path.as_posix()}/"): each for each in catalog}

    def first(path: str) -> str:
        asked = sy.Query("repair the csv files", exclude_tags=("x",))
        return why_skill(catalog, by_path[path].id, asked, scorer="overlap").sentences[0]

    assert "a/csv/SKILL.md" in first("b/csv/SKILL.md")
    assert "it is shadowed by" in first("b/csv/SKILL.md")
    assert "hidden from automatic choice" in first("b/wipe/SKILL.md")
    assert "a tag that was excluded (x)" in first("b/odd/SKILL.md")
    assert "left out" not in first("a/csv/SKILL.md")


def test_a_near_miss_is_said_to_be_one() -> None:
    why = why_skill(
        sy.Catalog.from_skills([skill("csv")]), "csv", sy.Query("csv"), scorer="overlap"
    )
    abstained = why.selection._replace(selected=(), maybe=(why.match,), abstained=True)
    near = why._replace(selection=abstained, min_score=why.match.score + 0.001)
    assert near.sentences[2].endswith("so none is chosen; perhaps csv is meant.")
    assert float(near.sentences[0].split(" scores ")[1].split(" by ")[0]) < near.min_score


def test_hostile_names_stay_on_one_line() -> None:
    catalog = sy.Catalog.from_skills([skill("a", "csv\n\x1b[2J things"), skill("b", "csv too")])
    for scorer in SCORERS:
        why = why_skill(catalog, "a", sy.Query("csv \x1b[2J\nthings"), scorer=scorer)
        assert not any(char < " " for sentence in why.sentences for char in sentence)


DECIDED = [
    (
        "docx",
        "write a word document",
        'by 2 words of its description that pdf lacks: "word" and "write"',
    ),
    ("pdf", "rotate pages", 'by 1 word of its body that docx lacks: "rotate"'),
    ("pdf", "/pdf the word document", "as the request calls it by name"),
    ("pdf", "please sign this form now", 'by its phrase "sign this form", which is in the request'),
]


@pytest.mark.parametrize(("name", "request_text", "decided"), DECIDED)
def test_one_sentence_says_what_decided(name: str, request_text: str, decided: str) -> None:
    catalog = sy.Catalog.from_skills(
        [
            sy.Skill("docx", "Write a word document.", "Add pages."),
            sy.Skill("pdf", 'Fill a document: "sign this form".', "Rotate pages and tables."),
        ]
    )
    other = "pdf" if name == "docx" else "docx"
    for each in (name, other):
        close = why_skill(catalog, each, sy.Query(request_text)).sentences[1]
        assert f"{name} is ahead {decided}." in close or "No other skill" in close


def test_why_names_what_of_the_request_a_skill_lacks() -> None:
    pdf = sy.Skill("pdf", 'Fill a document: "sign this form".', "Rotate pages.")
    catalog = sy.Catalog.from_skills([pdf, skill("csv")])
    first = why_skill(catalog, "pdf", sy.Query("translating the document")).sentences[0]
    assert 'it lacks "translating", and its phrase "sign this form" is not in the request.' in first
    assert "translate" not in why_skill(catalog, "pdf", sy.Query("rotate pages")).sentences[0]
