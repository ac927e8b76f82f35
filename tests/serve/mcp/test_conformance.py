"""The gate of ``make conformance``: a loss is a loss."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from types import ModuleType

import pytest

from tests.shared_data import REPOSITORY
from tests.tables import for_each

FOLDER = REPOSITORY / "tools" / "conformance"


@pytest.fixture(scope="module")
def gate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conformance_gate", FOLDER / "run.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    spec.loader.exec_module(found)
    return found


@for_each(
    ("came", "lost"),
    [((8, 2), False), ((9, 2), False), ((9, 1), False), ((7, 2), True), ((9, 3), True)],
)
def test_less_that_passes_or_more_that_fails_is_a_loss(
    gate: ModuleType, came: tuple[int, int], lost: bool
) -> None:
    assert gate.Outcome(*came).loses_to(gate.Outcome(8, 2)) is lost


def test_a_loss_ends_with_one_and_is_named(
    gate: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = json.loads((FOLDER / "expected.json").read_text())
    whole = {name: gate.Outcome(*counts) for name, counts in expected.items()}
    monkeypatch.setattr(gate, "missing", lambda least: "")
    monkeypatch.setattr(gate, "install", lambda pinned: None)
    monkeypatch.setattr(gate, "outcomes", lambda: whole)
    assert gate.main() == 0
    monkeypatch.setattr(gate, "outcomes", lambda: {**whole, "ping": gate.Outcome(1, 1)})
    assert gate.main() == 1
    assert "lost ping" in capsys.readouterr().out


def test_without_node_it_says_so_and_nothing_fails() -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / "run.py")],
        env={"PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout.startswith("conformance: not run: node and npm are not installed")
