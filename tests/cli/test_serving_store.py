"""``serve --store`` hands its flags to the service, and refuses at the start what cannot be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillyard.cli import main
from skillyard.serve.runtime.options import ServiceOptions
from skillyard.store.node.state import NodeState, state_folder

pytest.importorskip("uvicorn")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[ServiceOptions]:
    """What the service would have been started with; its catalog is made and ended."""
    from skillyard.serve.runtime.logging import Log
    from skillyard.serve.runtime.store_follower import StoreFollower

    found: list[ServiceOptions] = []

    def serve(options: ServiceOptions) -> None:
        options.check_roots()
        if options.store:
            StoreFollower(options, Log("none"))._store.close()
        found.append(options)

    monkeypatch.setattr("skillyard.serve.http.app.serve", serve)
    monkeypatch.setattr("skillyard.serve.mcp.stdio.serve_stdio", serve)
    monkeypatch.delenv("SKILLYARD_HTTP_TOKEN", raising=False)
    return found


def test_a_node_over_stdio_takes_the_same_flags(
    started: list[ServiceOptions], tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    assert main(["serve", "--mcp", "stdio", "--store", url]) == 0
    assert started[0].store == url


def test_without_a_folder_the_state_lies_in_the_cache(
    started: list[ServiceOptions], tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    assert main(["serve", "--store", url, "--caller", "team"]) == 0
    assert os.path.isdir(state_folder(url, "team"))


def test_a_store_that_is_not_there_yet_is_waited_for(
    started: list[ServiceOptions], tmp_path: Path
) -> None:
    """A database may come up after its nodes, and a node with a state answers without it."""
    url = f"sqlite:///{tmp_path}/none/store.db"
    assert main(["serve", "--store", url, "--state-dir", str(tmp_path / "node")]) == 0
    assert len(started) == 1


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("lib --store sqlite:///x.db", "not both"),
        ("--root lib --store sqlite:///x.db", "not both"),
        ("--scope user --store sqlite:///x.db", "not both"),
        ("--caller team", "how to follow a --store"),
        ("--state-dir node", "how to follow a --store"),
        ("--max-stale 3", "how to follow a --store"),
        ("--store nothing", "begins with its kind"),
        ("--store sqlite:///x.db --max-stale -1", "max_stale"),
        ("--store sqlite:///x.db --host 0.0.0.0", "set SKILLYARD_HTTP_TOKEN"),
        ("--store other://user:hunter2@host/x", "unknown store"),
        ("--store sqlite:///x.db --caller " + "x" * 201, "caller"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_listens(
    flags: str,
    said: str,
    started: list[ServiceOptions],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    assert main(["serve", *flags.split(" ")]) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert "hunter2" not in shown
    assert started == []


def test_a_folder_that_another_node_has_is_refused_by_name(
    started: list[ServiceOptions], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "node")
    with NodeState(folder).lock():
        url = f"sqlite:///{tmp_path}/store.db"
        assert main(["serve", "--store", url, "--state-dir", folder]) != 0
    shown = capsys.readouterr().err
    assert "another process follows" in shown
    assert "--state-dir" in shown
    assert started == []
