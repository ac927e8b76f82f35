"""Every selection can be logged, once, without the user's words, and without costing an answer."""

from __future__ import annotations

import hashlib
import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard import Query
from skillyard.hosts.adapters import AgentSkills
from skillyard.hosts.decisions.recorder import MAX_TEXT_CHARS
from skillyard.hosts.operations.prompts import inject_prompt
from skillyard.hosts.operations.skill_selection import select_skills
from skillyard.scorers import scorer_names
from tests.configuration import configure
from tests.shared_data import PACKAGES

SKILLS = [
    sy.Skill("git-bisect", "Finds the commit that broke the build.", "Halve.", tags=("git",)),
    sy.Skill("git-revert", "Takes back the commit that broke the build.", "Revert."),
    sy.Skill("csv-cleaning", "Repairs messy CSV files.", "Profile."),
]
REQUEST = "find the commit that broke the zebracorn build"


def text_digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@pytest.fixture
def catalog() -> sy.Catalog:
    return sy.Catalog.from_skills(SKILLS)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "log.jsonl"
    configure(monkeypatch, tmp_path, log={"file": path})
    return path


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_selection_is_one_line_with_all_that_was_decided(catalog: sy.Catalog, log: Path) -> None:
    policy = sy.SelectionPolicy(top_k=1, min_score=0.2, exclude_tags=("old",))
    found = select_skills(catalog, Query(REQUEST), policy, limit=0)
    (shape,) = entries(log)
    best = found.selection.selected[0]
    assert shape["schema"] == "skillyard.decision/1"
    assert shape["use"] == "select"
    assert shape["scorer"] == "hybrid"
    assert shape["policy"]["min_score"] == 0.2
    assert shape["policy"]["exclude_tags"] == ["old"]
    (chosen,) = shape["selected"]
    assert (chosen["id"], chosen["hash"]) == (best.skill.id, best.skill.hash)
    assert chosen["score"] == pytest.approx(best.score, abs=1e-6)
    assert chosen["signals"].keys() == best.signals.keys()
    assert [match["name"] for match in shape["runners_up"]] == ["git-revert", "csv-cleaning"]
    assert shape["runners_up"][0]["rejected_because"]
    assert shape["catalog"] == f"sha256:{catalog.digest}"
    assert shape["query"]["digest"] == text_digest(REQUEST)
    assert shape["time"].endswith("Z")


@pytest.mark.parametrize("scorer", scorer_names())
def test_without_being_asked_to_the_log_holds_none_of_the_users_words(
    scorer: str, catalog: sy.Catalog, log: Path
) -> None:
    named = Query(REQUEST, files=("zebracorn/secret.py",), recent_activity=("zebracorn",))
    select_skills(catalog, named, scorer=scorer)
    inject_prompt(catalog, REQUEST, scorer=scorer)
    text = log.read_text(encoding="utf-8")
    assert len(text.splitlines()) == 2
    assert "zebracorn" not in text
    assert "secret" not in text


def test_the_text_is_kept_when_that_is_asked_for(
    catalog: sy.Catalog, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, log.parent, log={"text": True})
    select_skills(catalog, Query(REQUEST, files=("a.py",)))
    select_skills(catalog, Query("x" * (MAX_TEXT_CHARS + 1)))
    first, second = entries(log)
    assert (first["query"]["text"], first["query"]["files"]) == (REQUEST, ["a.py"])
    assert "cut" not in first["query"]
    assert len(second["query"]["text"]) == MAX_TEXT_CHARS
    assert second["query"]["cut"] is True


def test_an_injection_is_logged_with_what_came_close(catalog: sy.Catalog, log: Path) -> None:
    done = inject_prompt(catalog, f"[skill:x]\nold\n[/skill]\n\n{REQUEST}")
    other = inject_prompt(catalog, "a prompt", Query(REQUEST))
    assert inject_prompt(catalog, "  ").match is None
    first, second = entries(log)
    assert first["use"] == second["use"] == "inject"
    assert first["query"]["digest"] == text_digest(f"\n{REQUEST}")
    assert second["query"]["digest"] == text_digest(REQUEST)
    assert other.match is not None
    assert second["selected"][0]["id"] == other.match.id
    assert second["runners_up"]
    assert done.scorer == first["scorer"] == "hybrid"


def test_a_log_that_cannot_be_written_is_said_and_the_answer_comes(
    catalog: sy.Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    configure(monkeypatch, tmp_path, log={"file": tmp_path})
    with caplog.at_level(logging.WARNING, "skillyard.hosts.decisions"):
        assert select_skills(catalog, Query(REQUEST)).selection.selected
    assert "not logged" in caplog.text


def test_nothing_is_loaded_and_nothing_written_when_nobody_listens() -> None:
    code = (
        "import sys, skillyard as sy\n"
        "from skillyard.hosts.operations.skill_selection import select_skills\n"
        "from skillyard.engine.ranking.query import Query\n"
        "select_skills(sy.Catalog.from_skills([sy.Skill('a', 'b', 'c')]), Query('b'))\n"
        "print([n for n in sys.modules if n.startswith('skillyard.hosts.decisions.')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(PACKAGES), "PATH": ""},
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


def test_the_real_api_takes_the_span(
    catalog: sy.Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="OpenTelemetry is not installed")
    export = pytest.importorskip("opentelemetry.sdk.trace.export")
    memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    trace = pytest.importorskip("opentelemetry.trace")
    exporter = memory.InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    select_skills(catalog, Query(REQUEST))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    configure(monkeypatch, tmp_path, log={"text": True})
    assert AgentSkills(catalog).choose(REQUEST)
    (span,) = exporter.get_finished_spans()
    assert span.name == "skillyard.select"
    assert span.attributes["skillyard.query.text"] == REQUEST
    assert span.end_time >= span.start_time
