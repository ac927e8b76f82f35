"""A copy of the results tells the same elsewhere: no key, no network, no providers' libraries."""

from __future__ import annotations

import json
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from skillyard_testkit.fake_llm import FakeLlm
from tests.evals.end_to_end.conftest import Run
from tests.evals.end_to_end.making import Project, run_apart
from tests.running import run_here

LAYERS = {
    "activation": ("--router", "model"),
    "effectiveness": (),
    "size-impact": ("--runs", "2"),
}


@pytest.fixture
def no_network(fake: FakeLlm) -> Iterator[Callable[[], None]]:
    """Close the network and take the keys away; what is opened fails the test."""
    with pytest.MonkeyPatch.context() as patch:

        def close() -> None:
            def refuse(*given: object, **named: object) -> NoReturn:
                raise AssertionError(f"a replay opened a socket: {given}")

            for name in ("socket", "create_connection", "getaddrinfo"):
                patch.setattr(socket, name, refuse)
            for name in ("ANTHROPIC", "OPENAI"):
                patch.delenv(f"{name}_API_KEY")
                patch.delenv(f"{name}_BASE_URL")

        yield close


def moved(workspace: Project, to: Path) -> Project:
    """Copy everything to another machine, as far as a folder can be one, and leave nothing."""
    shutil.copytree(
        workspace.folder, to, ignore=lambda _, names: [to.name] if to.name in names else []
    )
    for name in ("results", "skills", "evals"):
        shutil.rmtree(workspace.folder / name)
    return Project(to)


def told(envelope: dict[str, Any]) -> dict[str, Any]:
    """Return what may not differ: all but ids, times, and what this run paid."""
    own = ("run_id", "timestamp", "cost")
    cases = [{k: v for k, v in case.items() if k not in own} for case in envelope["cases"]]
    paid = (
        *("run_id", "timestamp", "duration_s", "total_cost", "cost_of_cached", "calls"),
        *("cache_hits", "backend", "price_source"),
        *("run_calls", "run_cost", "lost_calls", "lost_cost"),
    )
    meta = {name: value for name, value in envelope["meta"].items() if name not in paid}
    return {**envelope, "cases": cases, "meta": meta}


@pytest.mark.parametrize("layer", LAYERS)
def test_a_copy_replays_to_the_same_results(
    layer: str,
    run: Run,
    fake: FakeLlm,
    workspace: Project,
    no_network: Callable[[], None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(layer, *LAYERS[layer]).code == 0
    first = workspace.envelope()
    assert first["meta"]["backend"] == "fake"
    assert first["meta"]["calls"] > 0
    requests = len(fake.log.calls)
    elsewhere = moved(workspace, tmp_path / "elsewhere")
    no_network()
    done = run_here(capsys, elsewhere.arguments(layer, "--replay"))
    assert done.code == 0, done.err
    replayed = elsewhere.envelopes()[-1]
    assert told(replayed) == told(first)
    meta = replayed["meta"]
    assert (meta["calls"], meta["total_cost"]) == (0, 0.0)
    assert meta["cost_of_cached"] == pytest.approx(first["meta"]["total_cost"], abs=2e-6)
    assert meta["backend"] == "fake", "who answered does not change by being kept"
    assert len(fake.log.calls) == requests


@pytest.mark.parametrize("format", ["html", "md", "junit"])
def test_a_replays_report_is_the_same_byte_for_byte(
    format: str,
    run: Run,
    fake: FakeLlm,
    workspace: Project,
    no_network: Callable[[], None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Here and on the other machine; the name, the time and the duration of the run aside."""
    pytest.importorskip("jinja2")
    assert run("effectiveness").code == 0
    no_network()
    assert run("effectiveness", "--replay", "--format", format).code == 0
    here = plain(workspace)
    elsewhere = moved(workspace, tmp_path / "elsewhere")
    line = elsewhere.arguments("effectiveness", "--replay", "--format", format)
    assert run_here(capsys, line).code == 0
    assert plain(elsewhere) == here


def plain(workspace: Project) -> str:
    """Return the latest report without what belongs to its run alone."""
    meta = workspace.envelopes()[-1]["meta"]
    paths = sorted((workspace.folder / "evals/reports").glob(f"{meta['run_id']}*"))
    assert paths
    report = "".join(path.read_text("utf-8") for path in paths).replace(meta["run_id"], "RUN")
    report = report.replace(meta["timestamp"].removesuffix("Z"), "TIME")
    report = report.replace(meta["timestamp"][:16].replace("T", " "), "TIME")
    return re.sub(r'(?<=time=")[\d.]+(?=")|\b[\d.,]+\s(s|ms|min)\b', "DURATION", report)


def test_what_is_missing_is_listed(
    run: Run, fake: FakeLlm, workspace: Project, no_network: Callable[[], None]
) -> None:
    assert run("effectiveness").code == 0
    gone = [workspace.entries("generations")[0], workspace.entries("judgements")[0]]
    for path in gone:
        path.unlink()
    no_network()
    done = run("effectiveness", "--replay")
    assert done.code == 3
    names = [path.relative_to(workspace.results).as_posix() for path in gone]
    assert names[0] in done.err
    envelope = workspace.envelopes()[-1]
    assert envelope["meta"]["missing"] >= 1
    errors = [error["kind"] for case in envelope["cases"] for error in case["errors"]]
    assert "missing" in errors
    assert {*errors} == {"missing"}
    document = json.loads(run("effectiveness", "--replay", "--json").out)
    assert names[0] in document["missing"]
    assert not gone[0].exists(), "a replay makes nothing"


def test_a_replay_of_nothing_is_wrong_use(run: Run, workspace: Project) -> None:
    done = run("effectiveness", "--replay")
    assert done.code == 2
    assert "nothing to replay" in done.err


def test_a_replay_takes_the_settings_of_the_latest_run_of_its_layer(
    run: Run, fake: FakeLlm, workspace: Project, no_network: Callable[[], None]
) -> None:
    given = ("--seed", "7", "--orders", "single", "--skill", "tea-brewing", "--runs", "2")
    assert run("effectiveness", *given).code == 0
    assert run("size-impact", "--skill", "bread-baking").code == 0
    no_network()
    assert run("effectiveness", "--replay").code == 0
    meta = [each["meta"] for each in workspace.envelopes() if each["meta"]["eval_type"][0] == "e"][
        -1
    ]
    assert (meta["seed"], meta["orders"], meta["skill"], meta["runs"]) == (
        *(7, "single", "tea-brewing", 2),
    )


@pytest.mark.slow
def test_a_replay_needs_none_of_the_providers_libraries(
    run: Run, fake: FakeLlm, workspace: Project
) -> None:
    assert run("effectiveness", "--skill", "coffee-roasting").code == 0
    program = (
        "import sys\n"
        "for name in ('anthropic', 'openai', 'httpx', 'httpx2', 'genai_prices'):\n"
        "    sys.modules[name] = None\n"
        "from skillyard.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    done = run_apart(program, workspace.arguments("effectiveness", "--replay"))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_run_without_a_network_knows_what_the_library_would_send(
    provider: str, run: Run, fake: FakeLlm, workspace: Project, no_network: Callable[[], None]
) -> None:
    """The key of an entry holds every parameter: one that differs would be a miss."""
    pytest.importorskip(provider)
    models = {"anthropic": "claude-haiku-5-5", "openai": "gpt-4.1-mini"}
    workspace.configure(provider=provider, models={"generation": models[provider]}, temperature=0.5)
    assert run("effectiveness", "--skill", "coffee-roasting").code == 0
    no_network()
    assert run("effectiveness", "--replay").code == 0
    parameters = [each["meta"]["temperature_sent"] for each in workspace.envelopes()]
    assert parameters == [None, None] if provider == "anthropic" else parameters == [0.5, 0.5]
