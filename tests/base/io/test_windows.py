"""Every command but following a store runs with what Windows has, and answers the same."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from skillyard_testkit import toml
from tests.requirements import requirement
from tests.serve.mcp.messages import INITIALIZE, INITIALIZED
from tests.shared_data import REPOSITORY

if not Path("/proc/self/fd").is_dir():
    pytest.skip("the other library asks /proc what is open", allow_module_level=True)

Steps = list[dict[str, Any]]
QUERY = "clean up a messy csv file"
HOOK = ["hook", "claude-code", "--no-refresh", "--budget-ms", "60000", "--min-score", "0.1"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("windows") / "project"
    shutil.copytree(REPOSITORY / "examples" / "skills", folder / "skills")
    (folder / "skills" / "linked").symlink_to("csv-cleaning", target_is_directory=True)
    return folder


def environment(project: Path, system: str) -> dict[str, str]:
    home = project.parent / system
    home.mkdir(exist_ok=True)
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "LC_ALL") if key in os.environ}
    folders = {"HOME": home, "LOCALAPPDATA": home / "AppData" / "Local"}
    log = toml({"log": {"file": home / "log.jsonl"}})
    (home / "c.toml").write_text(log, encoding="utf-8")
    path = os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY)])
    return {
        **kept, **{name: str(folder) for name, folder in folders.items()},
        "CLAUDE_CONFIG_DIR": str(home / "claude"), "SKILLYARD_CONFIG": str(home / "c.toml"),
        "PYTHONPATH": path,
    }  # fmt: skip


def ends(project: Path, system: str, steps: Steps) -> list[dict[str, Any]]:
    """Run steps as on one system, in one process, in the project's folder."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.base.io.as_windows", system, json.dumps(steps)],
        cwd=project, env=environment(project, system), capture_output=True, text=True,
        encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def step(*arguments: str, **more: str) -> dict[str, Any]:
    return {"arguments": list(arguments), **more}


def payload(project: Path) -> str:
    told = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": QUERY}
    return json.dumps({**told, "cwd": str(project), "transcript_path": "", "permission_mode": ""})


@pytest.mark.slow
@requirement("platforms:windows")
def test_the_commands_answer_as_they_do_elsewhere(project: Path) -> None:
    """The first pass makes the index, the second answers from it."""
    root = ("--root", "skills", "--json")
    steps = [
        step("list", *root),
        step("check", "skills", "--json"),
        step("check", "skills", "--format", "sarif"),
        step("select", QUERY, *root),
        step("rank", QUERY, "--explain", *root),
        step("show", "csv-cleaning", *root),
        step("why", "csv-cleaning", QUERY, *root),
        step("inject", QUERY, "--root", "skills"),
        step("summary", "--root", "skills"),
        step("evaluate", "--text", QUERY, *root),
        step("search", QUERY, "--source", "local", *root),
        step("index", "status", *root),
        step("index", "verify", *root),
        step("select", QUERY, *root),
    ]
    windows, posix = ends(project, "windows", steps), ends(project, "posix", steps)
    for each, there, here in zip(steps, windows, posix, strict=True):
        if each["arguments"][:2] == ["index", "status"]:  # 1 while the files are a second old
            assert json.loads(there["out"])["state"] in ("current", "stale"), there
            continue
        assert there["code"] == here["code"], (each, there["err"])
        shown = there["out"].replace(str(project.parent / "windows"), "HOME")
        told = here["out"].replace(str(project.parent / "posix"), "HOME")
        if each["arguments"][0] not in ("index", "search"):  # these name times
            assert shown == told, each
        assert "csv-cleaning" in shown or each["arguments"][0] in ("check", "index")


@pytest.mark.slow
def test_an_index_is_built_and_replaced_while_it_is_in_use(project: Path) -> None:
    """Files that are open or mapped can neither be replaced nor removed on Windows."""
    root = ("--root", "skills", "--json")
    steps = [step("index", "build", *root), step("select", QUERY, *root)]
    added = project / "skills" / "csv-cleaning" / "SKILL.md"
    first = ends(project, "windows", [*steps, *steps, step("index", "verify", *root)])
    assert [each["code"] for each in first] == [0] * 5
    added.write_bytes(added.read_bytes() + b"\nOne more line.\n")
    assert [each["code"] for each in ends(project, "windows", steps[1:])] == [0]


def test_a_hook_is_installed_approved_and_answers(project: Path) -> None:
    steps = [
        step("hook", "install", "claude-code", "--json"),
        step("hook", "install", "claude-code", "--json"),
        step("trust", str(project), "--json"),
        step(*HOOK, input=payload(project)),
        step("trust", "--list", "--json"),
        step("hook", "uninstall", "claude-code", "--json"),
    ]
    installed, again, trusted, answer, listed, removed = ends(project, "windows", steps)
    assert json.loads(installed["out"])["settings"][0]["state"] == "installed"
    assert json.loads(again["out"])["settings"][0]["state"] == "unchanged"
    assert trusted["code"] == 0, trusted["err"]
    assert "csv-cleaning" in answer["out"], answer["err"]
    assert str(project) in listed["out"]
    assert removed["code"] == 0


@pytest.mark.slow
def test_one_request_over_http_is_answered(project: Path) -> None:
    arguments = ["windows", "-", "serve", "--root", "skills", "--port", "0"]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.base.io.as_windows", *arguments],
        cwd=project, env=environment(project, "windows"), stderr=subprocess.PIPE, text=True,
        encoding="utf-8",
    ) as server:  # fmt: skip
        try:
            assert server.stderr is not None
            line = next(line for line in server.stderr if "http://" in line)
            url = line[line.index("http://") :].split('"')[0].split()[0]
            with urllib.request.urlopen(
                f"{url}/.well-known/agent-skills/csv-cleaning/SKILL.md", timeout=20
            ) as answer:
                assert answer.status == 200
                assert b"csv-cleaning" in answer.read()
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 0


@pytest.mark.slow
def test_an_mcp_client_is_answered_over_standard_streams(project: Path) -> None:
    messages = [INITIALIZE, INITIALIZED, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    arguments = ["windows", "-", "serve", "--mcp", "stdio", "--root", "skills"]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.base.io.as_windows", *arguments],
        cwd=project, env=environment(project, "windows"),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            server.stdin.write("".join(f"{json.dumps(message)}\r\n" for message in messages))
            server.stdin.flush()
            answers = [json.loads(server.stdout.readline()) for _ in range(2)]
            server.stdin.close()
            assert server.wait(20) == 0
        finally:
            server.kill()
    assert answers[1]["result"]["tools"]


@requirement("platforms:nodes")
def test_a_store_works_and_following_it_is_refused_in_one_sentence(project: Path) -> None:
    store = ("--store", f"sqlite:///{project.parent}/catalog.db")
    steps = [
        step("store", "init", *store),
        step("store", "publish", "skills", *store, "--tenant", "main", "--jobs", "1"),
        step("store", "status", *store, "--json"),
        step("serve", *store, "--port", "0"),
    ]
    *worked, refused = ends(project, "windows", steps)
    assert [(each["code"], each["err"]) for each in worked if each["code"]] == []
    assert refused["code"] == 2
    assert "do not work on Windows; use WSL or a container" in refused["err"]
    assert refused["err"].count("\n") == 1
