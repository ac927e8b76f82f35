"""``eval improve``: what is found, what is not, and that the verdict is about unseen cases."""

from __future__ import annotations

import json
import random
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from skillyard.catalog import Catalog
from skillyard.cli import main
from skillyard.evals.cases.activation import ActivationCase
from skillyard.shapes.improvements import EvalImprove
from skillyard.skill import Skill
from skillyard.usecases.eval_runs import EvalOptions
from skillyard.usecases.improvement import ImproveOptions, improve
from skillyard.usecases.improvement.evidence import evidence_of, propose_from_evidence
from skillyard.usecases.improvement.halves import cases_of_skill, split_cases
from skillyard.usecases.improvement.judging import judge_change, least_cases
from skillyard.usecases.improvement.scoring import CaseOutcome
from skillyard.usecases.improvement.writing import writing_request
from tests.tables import for_each
from tests.usecases.improvement.making import OTHERS, SUBJECTS, Project, planted, trigger_file

pytest.importorskip("numpy")

REQUESTS = [f"write and send the invoice for {subject}" for subject in SUBJECTS]


def run(
    project: Project, capsys: pytest.CaptureFixture[str], *given: str, code: int = 0
) -> dict[str, Any]:
    capsys.readouterr()
    assert main(project.arguments("--json", *given)) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_a_missing_term_is_found_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = planted(tmp_path, REQUESTS, OTHERS)
    before = project.skill_file.read_bytes()
    found = run(project, capsys)
    assert (found["verdict"], found["written"]) == ("better", False)
    assert project.skill_file.read_bytes() == before, "nothing is written unasked"
    proposal = found["proposals"][found["chosen"]]
    assert "invoice" in proposal["added"]
    assert found["held_out"]["p"] <= 0.05
    assert 0 < found["held_out"]["low"] < found["held_out"]["change"] <= found["held_out"]["high"]
    assert found["held_out"]["high"] <= 1
    assert run(project, capsys, "--write")["written"]
    old = found["description"].encode()
    assert project.skill_file.read_bytes() == before.replace(old, proposal["description"].encode())


def test_where_nothing_helps_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No word is in two requests, so the words of one half say nothing about the other."""
    project = planted(tmp_path, [*SUBJECTS], OTHERS)
    before = project.skill_file.read_bytes()
    found = run(project, capsys, "--write", code=1)
    assert (found["verdict"], found["written"]) == ("cannot tell", False)
    assert found["held_out"]["gained"] == []
    assert found["held_out"]["low"] is None
    assert found["reason"] == "none of 11 held-out cases changes"
    assert project.skill_file.read_bytes() == before
    assert run(project, capsys, "--write", "--anyway")["written"]
    assert project.skill_file.read_bytes() != before


def test_a_skill_without_faults_gets_no_proposal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = planted(tmp_path, ["sort the yellow folders", "which yellow folders to sort"], [])
    found = run(project, capsys, "--write", "--anyway", code=1)
    assert (found["chosen"], found["held_out"], found["proposals"]) == (None, None, [])
    assert found["reason"] == "the cases of the first half suggest no change"


def test_too_few_cases_are_counted_and_the_estimate_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = planted(tmp_path, REQUESTS[:8])
    found = run(project, capsys)
    assert found["verdict"] == "cannot tell"
    assert found["held_out"]["change"] > 0
    assert (found["held_out_half"]["should_fire"], found["more_cases"]) == (4, 4)
    assert "write 4 more cases" in found["reason"]
    assert run(project, capsys, "--dry-run")["more_cases"] == 4


def test_errors_of_case_files_and_cases_about_other_skills_are_wrong_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = planted(tmp_path, REQUESTS[:4])
    assert main(project.arguments("--evals-dir", str(tmp_path / "none"))) == 2
    assert "there are no cases" in capsys.readouterr().err
    case_file = tmp_path / "evals" / "archive.yaml"
    case_file.write_text("skill: archive\nprompts:\n- ok\n- {promt: x}\n", encoding="utf-8")
    assert main(project.arguments()) == 2
    assert f"{case_file}:4: " in capsys.readouterr().err
    case_file.write_text(trigger_file("gardening", ["sow"], []), encoding="utf-8")
    assert main(project.arguments()) == 2
    assert "no case says that archive should fire" in capsys.readouterr().err


def test_what_cannot_be_written_is_refused_before_anything_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = planted(tmp_path, REQUESTS, OTHERS)
    broken = "---\nname: archive\ndescription: Sorts: yellow folders.\n---\nBody.\n"
    project.skill_file.write_text(broken, encoding="utf-8")
    assert main(project.arguments("--write")) == 2
    assert "check --fix" in capsys.readouterr().err
    assert main(project.arguments()) == 0


def test_six_cases_are_the_fewest_that_can_count_and_runs_count_too() -> None:
    case = ActivationCase("1", "x", ("a",))
    assert (least_cases(1), least_cases(2)) == (6, 3)
    for cases, verdict in ((5, "cannot tell"), (6, "better")):
        before = {str(n): CaseOutcome(case, (0.0,), 0, 0) for n in range(cases)}
        after = {str(n): CaseOutcome(case, (1.0,), 1, 1) for n in range(cases)}
        found = judge_change(before, after, "a")
        assert found is not None
        assert found.verdict == verdict
        undone = judge_change(after, before, "a")
        assert undone is not None
        assert undone.verdict == verdict.replace("better", "worse")


def test_false_fires_and_requests_taken_from_others_are_named() -> None:
    fires = ActivationCase("fires", "x", should_activate=False)
    taken = ActivationCase("taken", "y", ("other",))
    before = {
        "fires": CaseOutcome(fires, (1.0,), 0, 1),
        "taken": CaseOutcome(taken, (1.0,), 0, 1),
    }
    after = {
        "fires": CaseOutcome(fires, (0.0,), 1, 0),
        "taken": CaseOutcome(taken, (0.0,), 1, 0),
    }
    found = judge_change(before, after, "a")
    assert found is not None
    assert found.held_out is not None
    assert found.held_out.false_fires == ("fires", "taken")
    assert found.held_out.taken_away == ("taken",)
    assert found.held_out.lost == ("fires", "taken")


def test_a_clause_that_attracts_requests_of_others_is_removed() -> None:
    notes = "Writes minutes of meetings. Use for tables, agendas or decisions."
    catalog = Catalog.from_skills(
        [Skill("notes", notes, "B"), Skill("sheets", "Formulas of spreadsheets.", "B")]
    )
    cases = [
        ActivationCase(str(number), f"tables and agendas {word}", should_activate=False)
        for number, word in enumerate(("date", "size"))
    ]
    skill = catalog.get("notes")
    proposals = propose_from_evidence(skill, evidence_of(catalog, skill, cases))
    assert [each.description for each in proposals] == ["Writes minutes of meetings."]
    assert proposals[0].removed == ("agendas", "tables")


@for_each(
    ("description", "proposal"),
    [
        (
            "Writes minutes, tables and agendas of v1.2 meetings. Use for agendas, or for notes.",
            "Writes minutes, tables and agendas of v1.2 meetings. Or for notes.",
        ),
        (
            "Use this skill for tables. Writes agendas. Do not use it for tables.",
            "Writes agendas.",
        ),
        ("Use when tables are due. Only for agendas.", None),
    ],
)
def test_a_proposal_keeps_the_sentence_that_says_what_the_skill_does(
    description: str, proposal: str | None
) -> None:
    catalog = Catalog.from_skills(
        [Skill("notes", description, "B"), Skill("sheets", "Formulas of spreadsheets.", "B")]
    )
    cases = [
        ActivationCase(str(number), f"tables and agendas {word}", should_activate=False)
        for number, word in enumerate(("date", "size"))
    ]
    skill = catalog.get("notes")
    proposals = propose_from_evidence(skill, evidence_of(catalog, skill, cases))
    assert [each.description for each in proposals] == ([proposal] if proposal else [])


def test_terms_are_added_to_the_sentence_of_an_earlier_proposal() -> None:
    described = "Sorts yellow folders. Use for requests about stamps or invoice."
    catalog = Catalog.from_skills([Skill("archive", described, "B")])
    cases = [ActivationCase(each, f"{each} elephants", ("archive",)) for each in ("feed", "paint")]
    skill = catalog.get("archive")
    (proposal,) = propose_from_evidence(skill, evidence_of(catalog, skill, cases))
    assert proposal.description == (
        "Sorts yellow folders. Use for requests about stamps, invoice or elephants."
    )


def test_the_halves_are_disjoint_stratified_and_independent_of_the_order() -> None:
    cases = cases_of_skill(
        [
            *(ActivationCase(f"p{n}", f"request {n}", ("a",)) for n in range(7)),
            *(ActivationCase(f"n{n}", f"other {n}", should_activate=False) for n in range(4)),
            ActivationCase("again", "  REQUEST 3 ", ("a",), about="a"),
            ActivationCase("theirs", "for b", ("b",), about="b"),
            ActivationCase("not theirs", "not for b", should_activate=False, about="b"),
            ActivationCase("either", "for both", ("b",), ("a",)),
        ],
        "a",
    )
    halves = split_cases(cases, "a", 42)
    ids = [{case.id for case in half} for half in halves]
    assert ids[0] & ids[1] == set()
    assert ids[0] | ids[1] == {*(f"p{n}" for n in range(7)), *(f"n{n}" for n in range(4)), "theirs"}
    assert [sum(each.startswith("p") for each in half) for half in ids] == [3, 4]
    assert split_cases(cases[::-1], "a", 42) == halves
    assert split_cases(cases, "a", 43) != halves


def test_the_held_out_half_never_reaches_a_proposal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each request has a word of its own: no word of a held-out one is in what is made or asked."""
    skill = Skill("archive", "Sorts yellow folders.", "B")
    catalog = Catalog.from_skills([skill, Skill("gardening", "Plans beds.", "B")])
    cases = [ActivationCase(str(n), f"zq{n}x the invoice", ("archive",)) for n in range(20)]
    halves = split_cases(cases, "archive", 42)
    evidence = evidence_of(catalog, skill, halves.first)
    request = writing_request("m", skill, halves.first, evidence, 3, 0.0)
    words = [case.user_prompt.split()[0] for case in halves.held_out]
    made = [each.description for each in propose_from_evidence(skill, evidence)]
    assert made
    assert [word for word in words if any(word in text for text in [*made, request.user])] == []
    assert all(case.user_prompt.split()[0] in request.user for case in halves.first)


def test_other_answers_to_the_held_out_half_change_no_proposal_and_no_choice(
    tmp_path: Path,
) -> None:
    cases = [ActivationCase(str(n), each, ("archive",)) for n, each in enumerate(REQUESTS)]
    held_out = {each.user_prompt for each in split_cases(cases, "archive", 42).held_out}
    kept = [each for each in REQUESTS if each not in held_out]
    catalog = Catalog.from_skills(
        [Skill("archive", "Sorts yellow folders.", "B"), Skill("gardening", "Plans beds.", "B")]
    )
    found = []
    for number, replacing in enumerate((sorted(held_out), [f"zq{n}x" for n in range(9)])):
        path = tmp_path / f"{number}.yaml"
        path.write_text(trigger_file("archive", [*kept, *replacing], []), encoding="utf-8")
        made = split_cases(
            [ActivationCase(each, each, ("archive",)) for each in (*kept, *replacing)],
            "archive",
            42,
        )
        if {each.user_prompt for each in made.first} == set(kept):
            options = ImproveOptions(EvalOptions(str(tmp_path), (str(path),)))
            found.append(improve(catalog, "archive", options))
    assert found
    assert {(each.proposals, each.chosen) for each in found} == {
        (found[0].proposals, found[0].chosen)
    }


@pytest.mark.slow
def test_libraries_without_an_effect_are_called_better_in_at_most_one_of_twenty(
    tmp_path: Path,
) -> None:
    """Whether a request should get the skill is a coin flip, so no description is better."""
    found = [_improve_noise(tmp_path / str(number), number) for number in range(200)]
    verdicts = [each.verdict for each in found]
    assert verdicts.count("better") <= 10
    assert verdicts.count("worse") <= 10
    judged = [each.held_out for each in found if each.held_out is not None]
    changed = [len(each.gained) + len(each.lost) for each in judged]
    assert sum(cases >= least_cases(1) for cases in changed) > 100, "most could be significant"


def _improve_noise(folder: Path, seed: int) -> EvalImprove:
    rng = random.Random(seed)
    words = [f"{first}{last}" for first in ("ka", "lo") for last in _ENDINGS]
    requests = [" ".join(each) for each in rng.sample([*combinations(words, 3)], 80)]
    labels = [rng.random() < 0.5 for _ in requests]
    catalog = Catalog.from_skills(
        [Skill(name, f"For {' '.join(rng.sample(words, 3))}.", "B") for name in ("a", "b", "c")]
    )
    folder.mkdir()
    text = trigger_file(
        "a",
        [each for each, fires in zip(requests, labels, strict=True) if fires],
        [each for each, fires in zip(requests, labels, strict=True) if not fires],
    )
    (folder / "a.yaml").write_text(text, encoding="utf-8")
    options = ImproveOptions(EvalOptions(str(folder), (str(folder / "a.yaml"),)))
    return improve(catalog, "a", options)


_ENDINGS = ("bor", "dis", "fal", "gom", "ruk", "sten")
