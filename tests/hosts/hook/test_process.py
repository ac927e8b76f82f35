"""The hook as the hosts run it: a process that ends with 0, with an answer or without one."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skillyard.hosts.decisions.files import feedback_path
from skillyard.hosts.hook.installation import command_of
from tests.hosts.hook.conftest import PAYLOADS, Hook, payload
from tests.shared_data import PACKAGES

Events = Callable[[], list[dict[str, str]]]


@pytest.mark.parametrize("path", sorted(PAYLOADS.glob("*.json")), ids=lambda path: path.stem)
def test_each_host_gets_the_skill_in_its_format(
    path: Path, hook: Hook, users_skill: Path, events: Events
) -> None:
    host = "codex" if path.stem.startswith("codex") else "claude-code"
    answer = hook(path.read_bytes(), host=host)
    assert (answer.code, answer.err) == (0, "")
    assert answer.skill == "bisecting"
    assert str(users_skill) in answer.context
    assert "origin: user (agentskills)" in answer.context
    assert events() == []


NOTICE = "<task-notification><summary>bisect a regression: done</summary></task-notification>"


@pytest.mark.parametrize("prompt", ["", "   \n", "bake a sponge cake", "\ud800", NOTICE])
def test_without_a_skill_that_fits_there_is_no_answer_and_nothing_to_log(
    prompt: str, hook: Hook, users_skill: Path, events: Events
) -> None:
    assert hook(payload("/", prompt)) == (0, "", "")
    assert events() == []


BAD = {
    "nothing": b"",
    "text": b"not json",
    "deep": b'{"prompt":' + b"[" * 100_000,
    "a number": b'{"prompt": 5, "cwd": []}',
    "another event": b'{"prompt": "x", "hook_event_name": "PreToolUse"}',
    "huge": b'{"prompt": "' + b"x" * 5_000_000 + b'"}',
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_an_empty_answer_and_a_line_in_the_log(
    name: str, hook: Hook, events: Events
) -> None:
    assert hook(BAD[name]) == (0, "", "")
    (event,) = events()
    assert event["event"] == "bad_input"
    assert event["schema"] == "skillyard.hook-event/1"


def test_the_log_is_the_users_alone_and_holds_nothing_of_the_prompt(
    hook: Hook, tmp_path: Path
) -> None:
    hook(b'{"prompt": ["my secret"]}')
    hook(payload("/", "my secret"))  # there is no index
    path = tmp_path / "state" / "hook.log"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "secret" not in path.read_text(encoding="utf-8")
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2


def test_a_state_folder_that_cannot_be_used_changes_no_answer(
    hook: Hook, users_skill: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(feedback_path()).mkdir(parents=True)
    assert hook(payload("/")).skill == "bisecting"
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "file"))
    assert hook(b"junk") == (0, "", "")
    for _ in range(2):
        assert hook(payload("/", session_id="s")).skill == "bisecting"


def start(command: str, folder: Path, given: bytes) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES)}
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder, input=given, capture_output=True, env=environment, timeout=120, check=False,
    )  # fmt: skip


def test_nothing_is_imported_from_the_project_the_host_stands_in(
    tmp_path: Path, users_skill: Path
) -> None:
    folder = tmp_path / "evil"
    folder.mkdir()
    for name in ("skillyard", "json", "yaml", "select", "shlex", "Stemmer"):
        (folder / f"{name}.py").write_text(
            "import pathlib\npathlib.Path('ran').touch()\n", encoding="utf-8"
        )
    command = command_of("claude-code", ("--no-refresh", "--budget-ms", "60000"))
    done = start(f"{command} # skillyard hook, made: file", folder, payload(folder))
    assert done.returncode == 0
    assert b"bisecting" in done.stdout
    assert not (folder / "ran").exists()


def test_the_installed_command_ends_with_0_whatever_becomes_of_it(tmp_path: Path) -> None:
    gone = "/nowhere " + command_of("claude-code")
    not_a_program = f"{shlex.quote(sys.executable)} /nowhere.py {command_of('claude-code')[-9:]}"
    for command in (gone, not_a_program, command_of("claude-code", ("--no-such-option",))):
        assert command.endswith("|| exit 0")
        done = start(command, tmp_path, payload(tmp_path))
        assert done.returncode == 0, command
        assert done.stdout == b""


def test_an_answer_loads_nothing_for_terminals_networks_or_yaml(users_skill: Path) -> None:
    code = (
        "import sys\nfrom skillyard.cli import main\n"
        "assert main(['hook', 'claude-code', '--no-refresh', '--budget-ms', '60000']) == 0\n"
        "import json, os\nos.write(2, json.dumps(sorted(sys.modules)).encode())\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        input=payload("/"), capture_output=True, timeout=120, check=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGES)},
    )  # fmt: skip
    assert b"bisecting" in done.stdout
    loaded = set(json.loads(done.stderr))
    heavy = {"asyncio", "hashlib", "logging", "numpy", "opentelemetry", "rich", "ssl", "yaml"}
    heavy |= {"subprocess", "skillyard.engine.discovery", "skillyard.engine.catalog.entries"}
    assert loaded & heavy == set()
