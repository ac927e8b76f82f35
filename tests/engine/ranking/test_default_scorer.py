"""``skillyard.toml`` sets the default scorer of the surfaces, and of nothing else."""

from __future__ import annotations

import json
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

import skillyard as sy
from skillyard import SkillIoError
from skillyard.cli import main, progress
from skillyard.engine.ranking import registry
from skillyard.engine.ranking.registry import default_scorer
from tests.configuration import configure
from tests.engine.embedding.letters import Letters, install
from tests.tables import for_each
from tests.worked_examples.making import document

TEXT = "zzqq zjaz"
"""Shares letters with one skill and no word with any."""


@pytest.fixture
def skills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    for name, about in (("zebra-quiz", "Zigzag jazz quiz."), ("deploy", "Ship a release.")):
        folder = tmp_path / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(document(name, about), encoding="utf-8")
    return tmp_path / "skills"


def test_the_default_is_hybrid_until_a_file_names_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Letters())
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    assert default_scorer() == "hybrid"
    for name in ("overlap", "hybrid+letters"):
        configure(monkeypatch, tmp_path, scorer={"name": name})
        assert default_scorer() == name
    Path("skillyard.toml").write_text('scorer.name = "triggers"\n', encoding="utf-8")
    assert default_scorer() == "triggers"  # the project's file goes before the user's


def test_the_default_has_the_encoder_where_that_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_find_package", cache(find_spec))
    for name in ("skillyard_encoder", "onnxruntime", "sentencepiece", "tokenizers", "numpy"):
        (tmp_path / f"{name}.py").touch()
        monkeypatch.syspath_prepend(tmp_path)
    assert default_scorer() == "hybrid+encoder"
    for setting in ({"encoder": False}, {"name": "hybrid", "encoder": True}):
        configure(monkeypatch, tmp_path, scorer=setting)
        assert default_scorer() == "hybrid"


@for_each(
    ("name", "why"),
    [
        ("nosuch", "unknown scorer"),
        ("hybrid+nosuch", "unknown embedder"),
        ("hybrid+encoder", "pip install skillyard-encoder"),
        ("overlap+other", "takes no embedder"),
    ],
)
def test_a_scorer_that_cannot_be_used_is_refused_with_file_and_line(
    name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillyard.engine.embedding.protocol._entry_points", dict)
    path = configure(monkeypatch, tmp_path, scorer={"name": name})
    with pytest.raises(SkillIoError) as refused:
        default_scorer()
    assert str(refused.value).startswith(f"{path}:2: scorer.name is {name}, which ")
    assert why in str(refused.value)


@for_each(
    "command", ["rank", "select", "why deploy", "inject", "search --source local", "bench run"]
)
def test_no_encoder_leaves_any_embedder_out(
    command: str, skills: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, Letters())
    scorers = {"scorer": {"name": "hybrid+letters"}, "sources": {"ranker": "hybrid+letters"}}
    configure(monkeypatch, skills.parent, **scorers)
    words = [*command.split(), TEXT, "--root", str(skills), "--json"]
    if command == "bench run":
        queries = skills.parent / "queries.jsonl"
        queries.write_text(json.dumps({"id": "q", "query": TEXT}), encoding="utf-8")
        words = [*words[:2], "--queries", str(queries), "--out", f"{queries}.run", *words[3:]]
    for more in ([], ["--no-encoder"], ["--scorer", "hybrid"]):
        assert main([*words, *more]) in (0, 1)
        answer = json.loads(capsys.readouterr().out)
        expected = "hybrid" if more else "hybrid+letters"
        assert answer.get("scorer", answer.get("ranker")) == expected
    assert main([*words, "--no-encoder", "--scorer", "overlap"]) == 2
    assert main(["summary", "--query", TEXT, *words[-3:], "--no-encoder"]) == 0
    capsys.readouterr()
    assert main(["summary", "--no-encoder"]) == 2
    assert "--no-encoder" in capsys.readouterr().err


def test_commands_use_it_and_the_python_api_does_not(
    skills: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, Letters())
    configure(monkeypatch, skills, scorer={"name": "hybrid+letters"})
    command = ["rank", TEXT, "--root", str(skills), "--json"]
    assert main(command) == 0
    ranked = json.loads(capsys.readouterr().out)
    assert ranked["scorer"] == "hybrid+letters"
    assert ranked["matches"][0]["name"] == "zebra-quiz"
    assert sy.rank(sy.load_catalog(skills), TEXT) == []


def test_a_command_ends_with_2_and_names_the_key(
    skills: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(monkeypatch, skills, scorer={"name": "hybrid+nosuch"})
    for command in ("rank", "select"):
        assert main([command, TEXT, "--root", str(skills)]) == 2
        assert "scorer.name is hybrid+nosuch" in capsys.readouterr().err


def test_a_terminal_shows_how_far_the_vectors_are(
    skills: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, Letters())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(progress, "PATIENCE_S", 0.0)
    monkeypatch.setattr(progress, "_INTERVAL_S", 0.0)
    main(["rank", TEXT, "--root", str(skills), "--scorer", "hybrid+letters"])
    shown = capsys.readouterr().err
    assert "embedding " in shown
    assert "0 of 2" in shown
    assert "2 of 2" in shown


def test_the_second_command_computes_no_vector_of_a_skill(
    skills: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    letters = Letters()
    install(monkeypatch, letters)
    words = ["rank", TEXT, "--root", str(skills), "--scorer", "hybrid+letters", "--json"]
    assert main(words) == 0
    first, texts = capsys.readouterr().out, len(letters.asked)
    assert main(words) == 0
    assert capsys.readouterr().out == first
    assert len(letters.asked) == texts


def test_the_doctor_checks_the_scorer(
    skills: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def finding() -> dict[str, str]:
        main(["doctor", str(skills), "--json"])
        findings = json.loads(capsys.readouterr().out)["findings"]
        (found,) = (each for each in findings if each["id"] == "scorer")
        return dict(found)

    configure(monkeypatch, skills, scorer={"name": "overlap"})
    assert finding()["message"] == "the default scorer is overlap"
    configure(monkeypatch, skills, scorer={"name": "nosuch"})
    assert finding()["status"] == "error"
    assert "Correct scorer.name" in finding()["remedy"]
