"""``eval init``, and ``eval compare`` with ``--save`` and ``--gate``, with our own scorer."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from skillyard.evals.operations.eval_runs import eval_config
from tests.cli.conftest import Answer, Run
from tests.cli.making import ATTACK, write
from tests.evals.end_to_end.making import Project, project
from tests.tables import for_each

Eval = Callable[..., Answer]


@pytest.fixture
def made(tmp_path: Path) -> Project:
    """A project with enough requests for tea that their loss is more than chance."""
    cooking = project(tmp_path)
    requests = ("green tea", "black tea", "herbal tea", "steeping time", "water temperature")
    prompts = [f"{start} {request}" for start in ("make", "explain", "try") for request in requests]
    fields = {"expected_skills": ["tea-brewing"], "should_activate": True, "category": "direct"}
    lines = [
        json.dumps({"id": f"tea-{number}", "user_prompt": prompt, **fields})
        for number, prompt in enumerate(prompts)
    ]
    (tmp_path / "evals/datasets/activation/tea.jsonl").write_text("\n".join(lines), "utf-8")
    return cooking


@pytest.fixture
def ev(made: Project, run: Run) -> Eval:
    """``ev("compare", …)`` with the folders of the project."""

    def call(command: str, *given: str) -> Answer:
        if command == "activation":
            return run(*made.arguments(command, *given))
        folders = {
            "--evals-dir": made.folder / "evals",
            "--results-dir": made.results,
            "--baselines-dir": made.folder / "baselines",
        }
        line = [text for name, place in folders.items() for text in (name, str(place))]
        return run("eval", *command.split(), *line, *given)

    return call


def newest(made: Project) -> Path:
    envelope = made.envelopes()[-1]
    meta = envelope["meta"]
    return made.results / f"{meta['eval_type']}_{meta['run_id']}.json"


def worsen(made: Project) -> None:
    """Let every request of the newest results have picked nothing."""
    path = newest(made)
    envelope = json.loads(path.read_text("utf-8"))
    for case in envelope["cases"]:
        case.update(picked=[], passed=not case["should_activate"])
    path.write_text(json.dumps(envelope))


def test_a_baseline_is_kept_shown_and_compared(ev: Eval, made: Project) -> None:
    assert ev("activation").code == 0
    assert "no baseline yet" in ev("compare").out
    kept = ev("baseline save")
    assert kept.code == 0
    assert "activation_baseline.json" in kept.out
    assert len(ev("baseline save", "--json").json["baselines"]) == 1
    assert ev("compare", "--gate").code == 0
    document = ev("compare", "--json").json
    assert document["regressed"] is False
    assert {each["status"] for each in document["compared"][0]["changes"]} <= {
        "unchanged", "cannot tell",
    }  # fmt: skip
    assert "Cannot tell for" in ev("compare").out, "two requests for bread are too few"


@pytest.mark.parametrize("format", ["md", "junit"])
def test_every_format_says_what_was_not_compared(format: str, ev: Eval) -> None:
    pytest.importorskip("jinja2")
    ev("activation")
    assert "there is no baseline yet" in ev("compare", "--gate", "--format", format).out
    ev("compare", "--save")
    told = ev("compare", "--gate", "--format", format)
    assert told.code == 0
    assert "cannot tell" in told.out.lower()


def test_a_regression_is_told_and_gates_only_when_asked(ev: Eval, made: Project) -> None:
    ev("activation")
    saved = ev("compare", "--save", "--json")
    assert (saved.code, saved.json["schema"]) == (0, "skillyard.eval-baselines/1")
    assert ev("compare", "--save", "--gate").code == 2
    ev("activation")
    worsen(made)
    told = ev("compare")
    assert told.code == 0, "informational by default"
    assert "regression" in told.out
    assert "0 now" in told.out
    assert ev("compare", "--gate").code == 1
    document = ev("compare", "--gate", "--json")
    assert (document.code, document.json["regressed"]) == (1, True)
    for format in ("md", "junit"):
        pytest.importorskip("jinja2")
        report = ev("compare", "--gate", "--format", format)
        assert report.code == 1
        assert report.out


def test_a_run_gates_itself(ev: Eval, made: Project) -> None:
    """The one that regressed is the newest: another skill takes the requests for tea."""
    ev("activation")
    ev("compare", "--save")
    assert ev("activation", "--gate").code == 0
    skills = made.folder / "skills"
    tea = (skills / "tea-brewing/SKILL.md").read_text()
    thief = skills / "coffee-roasting/SKILL.md"
    thief.write_text(tea.replace("name: tea-brewing", "name: coffee-roasting"))
    (skills / "tea-brewing/SKILL.md").write_text("---\nname: tea-brewing\ndescription: Yes.\n---\n")
    done = ev("activation", "--gate")
    assert done.code == 1
    assert "tpr" in done.err
    assert ev("activation").code == 0


@pytest.mark.parametrize("given", [("--limit", "4"), ("--skill", "tea-brewing")])
def test_a_part_of_a_run_is_no_baseline(given: tuple[str, ...], ev: Eval) -> None:
    ev("activation", *given)
    refused = ev("compare", "--save")
    assert refused.code == 2
    assert given[0] in refused.err
    whole = json.loads(ev("activation", "--json").out)["path"]
    ev("activation", *given)
    saved = ev("compare", "--save")
    assert saved.code == 0
    assert "1 newer result of activation passed over" in saved.err
    compared = ev("compare", "--gate", "--json").json["compared"][0]
    assert (compared["path"], compared["refused"]) == (whole, "")
    assert "1 newer result of activation passed over" in ev("compare").err
    gated = ev("activation", *given, "--gate")
    assert gated.code == 2  # a gate that looked at nothing does not pass
    assert f"not compared: the results are no whole run: {_why(given)}" in gated.err


def _why(given: tuple[str, ...]) -> str:
    return "the run was limited" if given[0] == "--limit" else "the run looked at a part"


def test_the_newest_of_runs_within_a_second_is_the_last(ev: Eval, made: Project) -> None:
    """A scorer takes milliseconds: several runs share a timestamp."""
    names = [json.loads(ev("activation", "--json").out)["meta"]["run_id"] for _ in range(4)]
    assert names == sorted(names)
    compared = ev("compare", "--json").json["compared"]
    assert names[-1] in compared[0]["path"]


def test_a_damaged_baseline_is_wrong_input(ev: Eval, made: Project) -> None:
    ev("activation")
    path = made.folder / "baselines/activation_baseline.json"
    path.parent.mkdir()
    path.write_text("{")
    done = ev("compare")
    assert done.code == 2
    assert "activation_baseline.json" in done.err


def test_what_a_foreign_baseline_says_reaches_no_terminal(ev: Eval, made: Project) -> None:
    ev("activation")
    ev("compare", "--save")
    path = made.folder / "baselines/activation_baseline.json"
    kept = json.loads(path.read_text())
    kept["summary"][f"x{ATTACK}"] = kept["summary"]["_overall"]
    kept["meta"]["timestamp"] = ATTACK
    path.write_text(json.dumps(kept))
    done = ev("compare")
    assert done.code == 0
    assert not {*done.out} & {"\x1b", "\x9b", "\u202e", "\x07", "\b"}


@pytest.mark.parametrize(
    ("answer", "model", "provider"),
    [
        ("Own/Model", "Own/Model", "openai"),
        ("claude-x", "claude-x", "anthropic"),
        ("", "stand-in", "anthropic"),
        (None, "", "anthropic"),
    ],
)
def test_init_asks_a_terminal_for_the_model_and_leaves_a_line_to_others(
    answer: str | None, model: str, provider: str, run: Run, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    write(tmp_path, {"skills/ink/SKILL.md": "---\nname: ink\ndescription: Writes.\n---\n"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    if answer is not None:
        monkeypatch.setattr("skillyard.cli.console.is_terminal", lambda stream: True)
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{answer}\n"))
    told = run("eval", "init", "ink", "--root", "skills", "--scope", "none")
    assert ("(OPENAI_API_KEY is set)" in told.err) == (answer is not None)
    assert ("python -m skillyard_testkit.fake_llm -- " in told.out) == (answer == "")
    config, text = eval_config("evals"), (tmp_path / "evals/skillyard.toml").read_text()
    assert (config.models.generation, config.provider) == (model, provider)
    assert ("TODO: write the id of your model here" in text) == (answer is None)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "Beside tea stood 50 other skills from ~"),
        (("--scope", "none"), "The skill stood alone: this cannot show"),
        (("--root", "more"), "Beside tea stood 1 other skill from more."),
    ],
)
def test_a_skill_that_is_alone_is_chosen_among_the_users_others(
    options: tuple[str, ...], says: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("w/own/tea", "w/more/ink", *(f"home/.claude/skills/s{n}" for n in range(60))):
        text = f"---\nname: {name.rpartition('/')[2]}\ndescription: Brews tea. Use it.\n---\n"
        write(tmp_path, {f"{name}/SKILL.md": text})
    write(tmp_path / "w", {"evals/tea.yaml": "skill: tea\nprompts: [a cup of green tea]\n"})
    monkeypatch.chdir(tmp_path / "w")
    answer = run("eval", "run", "activation", "--root", "own", *options)
    assert answer.code == 0
    assert says in " ".join(answer.out.split())
    assert ("the nearest 50 other skills of your folders" in answer.err) == (not options)


@pytest.mark.parametrize("command", ["compare", "compare --save", "report"])
def test_without_any_results_the_next_command_is_named(ev: Eval, command: str) -> None:
    done = ev(command)
    assert done.code == 2
    assert "type `skillyard eval run activation`, and before it `skillyard eval init" in done.err


def test_an_edited_case_file_leaves_the_gate_on(ev: Eval, made: Project) -> None:
    """Before, one prompt more in any case file let every fall pass, with exit code 0."""
    ev("activation")
    ev("compare", "--save")
    path = made.folder / "evals/datasets/activation/tea.jsonl"
    more = {"id": "n-9", "user_prompt": "who won the match", "should_activate": False}
    path.write_text("# edited\n" + path.read_text() + "\n" + json.dumps(more), "utf-8")
    ev("activation")
    worsen(made)
    told = ev("compare", "--gate")
    assert told.code == 1
    assert "1 case of one run only: n-9" in told.err


def test_a_gate_that_can_pair_less_than_half_of_the_cases_does_not_pass(
    ev: Eval, made: Project
) -> None:
    ev("activation")
    ev("compare", "--save")
    path = made.folder / "evals/datasets/activation/tea.jsonl"
    path.write_text(path.read_text().replace('_prompt": "', '_prompt": "please '), "utf-8")
    assert ev("compare").code == 0 == ev("activation").code
    for done in (ev("compare", "--gate"), ev("activation", "--gate")):
        assert done.code == 2
        assert "less than half of the cases" in done.err


def test_cases_of_a_group_of_similar_skills_are_run_by_their_earlier_command(
    ev: Eval, made: Project, run: Run
) -> None:
    folder = made.folder / "evals/datasets/confusion"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    cases: list[dict[str, object]] = [
        {
            "id": "1",
            "group": "kitchen",
            "user_prompt": "steep oolong",
            "expected_skill": "tea-brewing",
        },
        {"id": "2", "group": "kitchen", "user_prompt": "who won", "expected_skill": None},
    ]
    (folder / "kitchen.jsonl").write_text("\n".join(map(json.dumps, cases)), "utf-8")
    done = run(*made.arguments("confusion", "--json"))
    assert done.code == 0
    document = json.loads(done.out)
    assert document["meta"]["eval_type"] == "activation"
    assert document["summary"]["_overall"]["positives"] == 1
    assert document["summary"]["_overall"]["negatives"] == 1
    gone = run(*made.arguments("confusion", "--group", "kitchen"))
    assert gone.code == 2


def test_rubrics_are_checked_by_their_earlier_command(made: Project, run: Run) -> None:
    folder = made.folder / "rubrics"
    folder.mkdir()
    given = ["--root", str(made.folder / "skills"), "--rubrics-dir", str(folder)]
    assert run("eval", "validate-rubrics", *given).code == 2
    path = folder / "tea-brewing.yaml"
    path.write_text("skill_name: tea-brewing\ntest_prompts: [steep oolong]\n", "utf-8")
    assert run("eval", "validate-rubrics", *given, "--json").json == {
        "schema": "skillyard.eval-rubrics/1",
        "rubrics": 1,
        "valid": True,
        "diagnostics": [],
    }
    path.write_text("skill_name: tea-brewing\ntest_prompts: []\n", "utf-8")
    wrong = run("eval", "validate-rubrics", *given)
    assert wrong.code == 1
    assert "tea-brewing.yaml:1: " in wrong.out


@for_each(
    ("options", "needs"),
    [
        (("--model", "m"), "--router model"),
        (("--max-cost", "1"), "--router model"),
        (("--timeout", "9", "--dry-run"), "--router model"),
        (("--replay",), "--router model"),
        (("--router", "model", "--model", "m", "--top-k", "2"), "--router with a scorer"),
    ],
)
def test_an_option_that_the_router_would_ignore_is_refused(
    options: tuple[str, ...], needs: str, ev: Eval
) -> None:
    assert ev("activation").code == 0
    refused = ev("activation", *options)
    assert refused.code == 2
    assert f"picks the skills here; add {needs}" in refused.err
