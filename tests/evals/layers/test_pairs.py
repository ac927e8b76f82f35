"""The jobs of a run of pairs: in which order, and who waits for whom."""

from __future__ import annotations

from pathlib import Path

from skillyard.evals.cases.answers import AnswerPrompt
from skillyard.evals.conditions.prompts import skill_arms
from skillyard.evals.criteria import DEFAULT_CRITERIA
from skillyard.evals.layers.pair_run import PairRun
from skillyard.evals.layers.session import ModelSession
from skillyard.evals.layers.work import PairUnit
from skillyard.evals.models.factory import offline_model
from skillyard.evals.settings import RunSettings
from skillyard.evals.storage.entries import Entries

SETTINGS = RunSettings("effectiveness", model="m", judge_model="j", runs=2)
PER_UNIT = 2 + 2 + 1
"""Two answers, two judgements, and the case."""


def unit(skill: str, prompt: str) -> PairUnit:
    text = f"---\nname: {skill}\ndescription: Does {skill}.\n---\n# {skill}\n\nDo it.\n"
    arms = skill_arms(text, None, conditions=("enhanced", "baseline"))
    case = AnswerPrompt(prompt, tuple(DEFAULT_CRITERIA))
    return PairUnit(skill, 0, case, arms, (("enhanced", "baseline"),))


def run_of(tmp_path: Path, *units: PairUnit) -> PairRun:
    model = offline_model("anthropic", "test")
    session = ModelSession(
        model, Entries(str(tmp_path)), now=str, price_of=lambda name: None, offline=True
    )
    return PairRun(units, SETTINGS, session)


def test_a_judgement_waits_for_both_answers_and_a_case_for_its_judgements(tmp_path: Path) -> None:
    jobs = run_of(tmp_path, unit("a", "p"), unit("b", "q")).jobs()
    assert len(jobs) == 2 * 2 * PER_UNIT
    assert [job.after for job in jobs[:PER_UNIT]] == [(), (), (0, 1), (0, 1), (2, 3)]
    assert [job.after for job in jobs[PER_UNIT : 2 * PER_UNIT]] == [
        (), (), (5, 6), (5, 6), (7, 8),
    ]  # fmt: skip


def test_an_answer_that_is_shared_waits_for_the_first_that_needs_it(tmp_path: Path) -> None:
    """Otherwise the case that paid for it would be whichever thread came first."""
    jobs = run_of(tmp_path, unit("a", "same"), unit("b", "same")).jobs()
    waiting = [place for place, job in enumerate(jobs) if len(job.after) == 1]
    assert waiting == [6, 16], "the second unit's answer without a skill, in each run"
    assert [jobs[place].after for place in waiting] == [(1,), (11,)]


def test_what_was_not_reached_says_why(tmp_path: Path) -> None:
    run = run_of(tmp_path, unit("a", "p"))
    assert [case["skipped"] for case in run.cases("budget")] == ["budget"] * 2
    for job in run.jobs():
        job.work()
    cases = run.cases("budget")
    assert [case["skipped"] for case in cases] == [None] * 2
    assert {error["kind"] for case in cases for error in case["errors"]} == {"missing"}
    fields = {tuple(case) for case in (*cases, *run_of(tmp_path, unit("a", "p")).cases(""))}
    assert len(fields) == 1, "every case has the same fields"
