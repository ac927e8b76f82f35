"""Paths as text, compared as POSIX and as Windows compare them."""

from __future__ import annotations

import ntpath
from pathlib import Path

import pytest

from skillyard.base import configuration
from skillyard.base.io import files, processes
from skillyard.base.io.files import below, file_uri, is_below, same_path, slashes


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    class Os:
        path = ntpath
        sep = "\\"

    monkeypatch.setattr(files, "os", Os)


@pytest.mark.usefixtures("windows")
def test_paths_of_windows() -> None:
    assert [slashes(path) for path in ("C:\\a\\b\\", "C:\\", "a\\b", "\\\\s\\share\\a")] == [
        "C:/a/b", "C:/", "a/b", "//s/share/a",
    ]  # fmt: skip
    assert below("C:/Skills/deploy/SKILL.md", "c:\\skills") == "deploy/SKILL.md"
    assert not is_below("C:/skills-of-others/x", "C:\\skills")
    assert same_path("C:/A", "c:\\a")
    assert file_uri("C:\\a b\\ü.md") == "file:///C:/a%20b/%C3%BC.md"
    assert file_uri("\\\\server\\share\\a.md") == "file://server/share/a.md"
    assert file_uri("a\\b") == "a/b"


def test_a_command_line_of_windows_is_read_by_cmd_and_bash(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["C:\\Program Files\\skillyard.exe", "hook", "", "--min-score", "0.1"]
    monkeypatch.setattr(processes, "sys", type("Sys", (), {"platform": "win32"}))
    told = processes.shell_command(arguments)
    assert told == '"C:/Program Files/skillyard.exe" hook "" --min-score 0.1'


@pytest.mark.parametrize(
    ("folder", "own", "variable", "below_home"),
    [
        (configuration.cache_folder, "SKILLYARD_CACHE", "XDG_CACHE_HOME", ".cache"),
        (configuration.state_folder, "SKILLYARD_STATE", "XDG_STATE_HOME", ".local/state"),
        (configuration.config_folder, None, "XDG_CONFIG_HOME", ".config"),
    ],
)
def test_the_folders_of_a_user(
    folder: object, own: str | None, variable: str, below_home: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    assert callable(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in (own, variable):
        if name:
            monkeypatch.delenv(name, raising=False)
    assert folder() == str(tmp_path / below_home / "skillyard")
    monkeypatch.setenv(variable, "relative")
    assert folder() == str(tmp_path / below_home / "skillyard")
    monkeypatch.setenv(variable, "/base")
    assert folder() == "/base/skillyard"
    if own:
        monkeypatch.setenv(own, "/own")
        assert folder() == "/own"
