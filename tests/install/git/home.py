"""A user's home for git: nothing of the machine's own configuration counts."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.install.git.servers import GitServer, serve

__all__ = ["git_home", "server_of"]


@pytest.fixture
def git_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, an empty cache and no configuration of the system."""
    if shutil.which("git") is None or sys.platform == "win32":
        pytest.skip("git is not installed, or its servers are not")
    home = tmp_path / "home"
    home.mkdir()
    for name in ("GIT_DIR", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    (home / ".gitconfig").write_text("[safe]\n\tdirectory = *\n")
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    return home


@pytest.fixture
def server_of(
    git_home: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[GitServer]:
    """The server of the kind that a test is parametrized with."""
    with serve(request.param, tmp_path / "served", tmp_path) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server
