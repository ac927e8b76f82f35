"""What is said first: a choice, a question or an abstention, each in words of its own."""

from __future__ import annotations

import skillyard as sy
from skillyard import Match, Query, Selection, SelectionPolicy
from skillyard.hosts.operations.skill_selection import SelectResult, select_skills
from skillyard.serve.web.search_page import Verdict, verdict_of
from tests.serve.web.page_parser import read
from tests.serve.web.page_values import macro
from tests.tables import for_each

SKILLS = [sy.Skill("deploy", "Deploy the app to production.", "Ship.")]


def selected(text: str, *skills: sy.Skill, top_k: int | None = None) -> SelectResult:
    catalog = sy.Catalog.from_skills(skills)
    return select_skills(catalog, Query(text), SelectionPolicy(top_k), scorer="overlap")


def said(verdict: Verdict) -> str:
    heading, detail = read(macro("verdict", verdict)), verdict.sentences
    assert ["".join(each.text) for each in heading.all("p")] == list(detail)
    return "".join(heading.all("h2")[0].text) + "".join(detail)


def near(*scores: float) -> SelectResult:
    """Return a choice of none, with skills near the floor."""
    ranked = sy.rank([sy.Skill(f"s{n}", "x", "y") for n in range(len(scores))], "x s0 s1 s2 s3",
                     scorer="overlap")  # fmt: skip
    maybe = tuple(
        Match(match.skill, score, None, match._scored)
        for match, score in zip(ranked, scores, strict=True)
    )
    found = selected("deploy", *SKILLS)
    chosen = Selection((), maybe, len(maybe), True, False, "overlap", (), maybe)
    return found._replace(selection=chosen, min_score=0.5)


FAR = sy.Skill("far", "x y z", "app " + " ".join(f"w{n}" for n in range(100)))
HIDDEN = sy.parse_skill("a/SKILL.md", "---\nname: a\ndescription: x\ntrigger: true\n---\n\nBody.\n")
NONE = "No skill fits this request"
FITS = "It scores 11.50, where 1 is enough: description deploy, the, app; name deploy."
NOT_ALLOWED = "Of 1 skill, deploy comes closest with 11.50, but none may be chosen."
ONE = "Is it what you mean? It comes near, but stays under the 0.5 that a choice takes."
TWO = "Is one of them what you mean? They come near, but stay under the 0.5 that a choice takes."


@for_each(
    ("result", "kind", "heading", "sentence"),
    [
        (selected("deploy the app", *SKILLS), "fits", "Fits: deploy", FITS),
        (selected("deploy"), "none", NONE, "There are no skills in this library."),
        (selected(" ", *SKILLS), "none", NONE, "There is nothing in the request to go by."),
        (selected("zebra", *SKILLS), "none", NONE,
         "None of 1 skill has anything in common with it."),
        (selected("deploy the app", *SKILLS, top_k=0), "none", NONE, NOT_ALLOWED),
        (selected("app", FAR), "none", NONE,
         "Of 1 skill, far comes closest with 0.10; it takes 1 to be chosen."),
        (selected("zebra", HIDDEN), "none", NONE,
         "The skills here are taken only when they are called by name."),
        (near(0.48), "maybe", "Perhaps: s0 0.48", ONE),
        (near(0.48, 0.4), "maybe", "Perhaps: s0 0.48, s1 0.40", TWO),
    ],
    ids=["fits", "empty", "blank", "nothing", "none-wanted", "far", "by-name", "maybe", "several"],
)  # fmt: skip
def test_a_choice_a_question_and_every_kind_of_abstention_are_said_in_plain_words(
    result: SelectResult, kind: str, heading: str, sentence: str
) -> None:
    verdict = verdict_of(result, "deploy the app")
    assert verdict.kind == kind
    assert said(verdict) == heading + sentence


def test_remote_skills_that_fit_are_no_abstention_and_no_choice_either() -> None:
    verdict = verdict_of(selected("zebra", *SKILLS), "zebra", elsewhere=2)
    assert verdict.kind == "elsewhere"
    assert said(verdict).startswith("2 skills from elsewhere fit")
    assert verdict_of(selected("deploy", *SKILLS), "x", elsewhere=2).kind == "fits"
