"""From nothing to a first verdict: a case file, and two commands."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from threading import Event

import pytest

from skillyard_testkit.fake_llm.__main__ import serve
from tests.cli.making import write
from tests.evals.end_to_end.making import SKILLS

PROMPTS = (
    "My green leaves taste bitter, which temperature and how long?",
    "How many leaves for a litre of the black one?",
    "The pot was cold, is that why the cup is weak?",
    "When do I take the leaves out of the black one?",
    "The water boils at 93 degrees up here, what now?",
    "Something herbal for the night, how hot?",
)


def test_a_case_file_and_two_commands_end_in_a_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("anthropic", "genai_prices", "numpy"):
        pytest.importorskip(name)
    from skillyard.cli import main

    write(tmp_path / "skills", SKILLS)
    monkeypatch.chdir(tmp_path)
    init = ["eval", "init", "tea-brewing", "--root", "skills", "--model", "stand-in"]
    assert main(init) == 0
    file = tmp_path / "evals/tea-brewing.yaml"
    prompts, lines = iter(PROMPTS), []
    for line in file.read_text("utf-8").splitlines():
        if "should_fire" in line or line.startswith("  - prompt:"):
            text = next(prompts, None) if "TODO" in line else None
            if text is None:
                continue
            line = re.sub(r'"TODO.*"', f'"{text}"', line)
        lines.append(line)
    file.write_text("\n".join(lines) + "\n", "utf-8")
    assert main(["eval", "run", "effectiveness", "--root", "skills", "--dry-run"]) == 0
    assert "a stand-in has no cost" in capfd.readouterr().out
    command = [sys.executable, "-m", "skillyard", "eval", "run", "effectiveness"]
    out = io.StringIO()
    assert serve(["--", *command, "--root", "skills"], out, out, Event()) == 0
    shown = capfd.readouterr().out
    assert re.search(r"tea-brewing +(. )?(better|worse|equivalent|not enough data)", shown)
    assert "6 of 6 planted pairs right" in " ".join(shown.split())
    assert "stand-in" in shown
    assert "$" not in shown, "a stand-in's answers have no cost"
