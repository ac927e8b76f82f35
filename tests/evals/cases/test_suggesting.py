"""``eval suggest``: the words that decide, told from the scorer's own explanation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillyard.catalog import Catalog, read_catalog
from skillyard.errors import SkillNotFound
from skillyard.evals.cases.activation import ActivationCase
from skillyard.evals.cases.layer_cases import CasePlaces, read_activation_cases
from skillyard.ranking.match import rank
from skillyard.skill import Skill
from skillyard.usecases.suggestions import Suggestions, suggest
from tests.shared_data import REPOSITORY

EXAMPLES = REPOSITORY / "examples"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return read_catalog(EXAMPLES / "skills")


def test_the_words_that_the_winner_has_and_the_skill_lacks(catalog: Catalog) -> None:
    prompt = "the total in column C is wrong since we imported the file"
    case = ActivationCase("1", prompt, ("spreadsheet-formulas",))
    dataset = suggest(catalog, "spreadsheet-formulas", [case])
    (advice,) = dataset.cases
    assert (advice.wanted, advice.competitor, dataset.in_order) == (True, "csv-cleaning", 0)
    assert advice.competitor_score > advice.score
    assert {"imported", "file"} <= {term.term for term in advice.terms if term.ours == 0}
    leads = [term.theirs - term.ours for term in advice.terms]
    assert leads == sorted(leads, reverse=True)
    assert min(leads) > 0
    assert [word.term for word in dataset.missing] == [term.term for term in advice.terms]
    assert dataset.missing[0].competitors == ("csv-cleaning",)
    assert dataset.shared == ()


def test_the_words_that_the_skill_shares_with_a_request_it_is_not_for(catalog: Catalog) -> None:
    case = ActivationCase(
        "n", "Design a questionnaire about school lunches, ten questions", should_activate=False
    )
    dataset = suggest(catalog, "survey-analysis", [case])
    (advice,) = dataset.cases
    assert (advice.wanted, advice.rank, advice.competitor) == (False, 1, None)
    assert advice.terms[0].term == "questionnaire"
    assert dataset.shared[0].term == "questionnaire"
    assert dataset.missing == ()


def test_a_word_that_is_added_to_the_description_helps(catalog: Catalog) -> None:
    """The advice is worth something: following it puts the skill first."""
    prompt = "the total in column C is wrong since we imported the file"
    case = ActivationCase("1", prompt, ("spreadsheet-formulas",))
    dataset = suggest(catalog, "spreadsheet-formulas", [case])
    words = " ".join(word.term for word in dataset.missing)
    skills = [
        skill.replace(description=f"{skill.description} {words}.")
        if skill.name == "spreadsheet-formulas"
        else skill
        for skill in catalog.candidates
    ]
    assert rank(Catalog.from_skills(skills), prompt)[0].skill.name == "spreadsheet-formulas"


def test_requests_that_go_right_need_no_advice(catalog: Catalog) -> None:
    cases = [
        ActivationCase("1", "my XLOOKUP in Excel returns #N/A", ("spreadsheet-formulas",)),
        ActivationCase("2", "who wrote The Master and Margarita", should_activate=False),
        ActivationCase("3", "this csv export has broken umlauts", ("csv-cleaning",)),
    ]
    dataset = suggest(catalog, "spreadsheet-formulas", cases)
    assert (dataset.looked_at, dataset.in_order, dataset.cases) == (3, 3, ())


def test_cases_that_say_nothing_about_the_skill_are_not_looked_at(catalog: Catalog) -> None:
    cases = [
        ActivationCase("1", "x", ("csv-cleaning",), ("regex-building",)),
        ActivationCase("2", "x", ("csv-cleaning",), about="csv-cleaning"),
    ]
    assert suggest(catalog, "regex-building", cases).looked_at == 0


def test_a_request_without_any_word_of_the_skill_tells_what_nobody_claims() -> None:
    catalog = Catalog.from_skills([Skill("letter", "Writes letters.", "B")])
    case = ActivationCase("1", "compose an epistle", ("letter",))
    (advice,) = suggest(catalog, "letter", [case]).cases
    assert (advice.competitor, advice.terms) == (None, ())
    assert advice.score < advice.floor
    assert "epistle" in advice.unclaimed


def test_the_answer_is_json_and_the_same_every_time(catalog: Catalog) -> None:
    places = CasePlaces((str(EXAMPLES / "evals/datasets/activation"),))
    cases = read_activation_cases(places, catalog).cases
    dataset = suggest(catalog, "log-triage", cases)
    assert isinstance(dataset, Suggestions)
    assert dataset.looked_at == len(cases)
    text = json.dumps(dataset.to_dict())
    assert json.loads(text)["schema"] == "skillyard.eval-suggest/1"
    assert text == json.dumps(suggest(catalog, "log-triage", cases).to_dict())


def test_a_skill_that_is_not_there_is_an_error(catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(SkillNotFound):
        suggest(catalog, "nobody", [])
