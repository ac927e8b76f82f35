"""``eval compare``, ``eval baseline`` and ``--gate`` at the terminal, with our own scorer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Answer, Run
from tests.cli.making import ATTACK
from tests.evals.end_to_end.making import Project, project

Eval = Callable[..., Answer]


@pytest.fixture
def made(tmp_path: Path) -> Project:
    return project(tmp_path)


@pytest.fixture
def ev(made: Project, run: Run) -> Eval:
    """``ev("compare", …)`` with the folders of the project."""

    def call(command: str, *given: str) -> Answer:
        if command in ("activation", "confusion"):
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


def worsen(made: Project, **changes: Any) -> None:
    """Change the figures of the newest results."""
    path = newest(made)
    envelope = json.loads(path.read_text("utf-8"))
    envelope["summary"]["_overall"].update(changes)
    path.write_text(json.dumps(envelope))


def test_a_baseline_is_kept_shown_and_compared(ev: Eval, made: Project) -> None:
    assert ev("activation").code == 0
    assert "no baseline yet" in ev("compare").out
    kept = ev("baseline save")
    assert kept.code == 0
    assert "activation_baseline.json" in kept.out
    shown = ev("baseline show", "--json").json["baselines"]
    assert [(each["eval_type"], each["router"], each["backend"]) for each in shown] == [
        ("activation", "hybrid", "none")
    ]
    assert ev("compare", "--gate").code == 0
    document = ev("compare", "--json").json
    assert document["regressed"] is False
    assert {each["status"] for each in document["compared"][0]["changes"]} <= {
        "unchanged", "not compared",
    }  # fmt: skip


def test_a_regression_is_told_and_gates_only_when_asked(ev: Eval, made: Project) -> None:
    ev("activation")
    ev("baseline save")
    ev("activation")
    worsen(made, tpr=0.1)
    told = ev("compare")
    assert told.code == 0, "informational by default"
    assert "regression" in told.out
    assert "0.1 now" in told.out
    assert ev("compare", "--gate").code == 1
    document = ev("compare", "--gate", "--json")
    assert (document.code, document.json["regressed"]) == (1, True)
    for format in ("md", "junit", "github"):
        pytest.importorskip("jinja2")
        report = ev("compare", "--gate", "--format", format)
        assert report.code == 1
        assert report.out


def test_a_run_gates_itself(ev: Eval, made: Project) -> None:
    """The one that regressed is the newest: a skill that takes everything now."""
    ev("activation")
    ev("baseline save")
    assert ev("activation", "--gate").code == 0
    skill = made.folder / "skills/coffee-roasting/SKILL.md"
    text = skill.read_text()
    skill.write_text(text.replace("Roasts coffee beans at home.", "Yes."))
    baseline = made.folder / "baselines/activation_baseline.json"
    kept = json.loads(baseline.read_text())
    kept["summary"]["_overall"]["tpr"] = 1.0
    kept["summary"]["_overall"]["positives"] = 20
    baseline.write_text(json.dumps(kept))
    empty = made.folder / "skills/tea-brewing/SKILL.md"
    empty.write_text("---\nname: tea-brewing\ndescription: Yes.\n---\nYes.\n")
    bread = made.folder / "skills/bread-baking/SKILL.md"
    bread.write_text("---\nname: bread-baking\ndescription: Yes.\n---\nYes.\n")
    done = ev("activation", "--gate")
    assert done.code == 1
    assert "tpr" in done.err
    assert ev("activation").code == 0


@pytest.mark.parametrize("given", [("--limit", "4"), ("--skill", "tea-brewing")])
def test_a_part_of_a_run_is_no_baseline(given: tuple[str, ...], ev: Eval) -> None:
    ev("activation", *given)
    refused = ev("baseline save")
    assert refused.code == 2
    assert given[0] in refused.err
    ev("activation")
    assert ev("baseline save").code == 0
    ev("activation", *given)
    told = ev("compare", "--gate")
    assert told.code == 0
    assert "not compared" in told.out


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
    for command in ("compare", "baseline show"):
        done = ev(command)
        assert done.code == 2
        assert "activation_baseline.json" in done.err


def test_what_a_foreign_baseline_says_reaches_no_terminal(ev: Eval, made: Project) -> None:
    ev("activation")
    ev("baseline save")
    path = made.folder / "baselines/activation_baseline.json"
    kept = json.loads(path.read_text())
    kept["summary"][f"x{ATTACK}"] = kept["summary"]["_overall"]
    kept["meta"]["timestamp"] = ATTACK
    path.write_text(json.dumps(kept))
    for command in ("compare", "baseline show"):
        done = ev(command)
        assert done.code == 0
        assert not {*done.out} & {"\x1b", "\x9b", "\u202e", "\x07", "\b"}


def test_nothing_to_compare_is_wrong_use(ev: Eval, made: Project) -> None:
    done = ev("compare")
    assert done.code == 2
    made.results.mkdir()
    done = ev("compare")
    assert done.code == 2
    assert "run `skillyard eval` first" in done.err
    assert "no baselines" in ev("baseline show").out


def test_confusion_is_compared_by_group(ev: Eval, made: Project) -> None:
    assert ev("confusion").code == 0
    ev("baseline save")
    ev("confusion")
    path = newest(made)
    envelope = json.loads(path.read_text("utf-8"))
    envelope["summary"]["kitchen"]["cross_activation"]["tea-brewing"] = 0.9
    path.write_text(json.dumps(envelope))
    done = ev("compare", "--gate")
    assert done.code == 1
    assert "cross_activation of tea-brewing" in done.out
