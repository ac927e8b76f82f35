"""A configuration that is a pipe or an endless device ends a command, with an error that names it.

A file that the user names on the command line may be a pipe, as ``<(command)`` makes one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from tests.shared_data import PACKAGES
from tests.tables import for_each

BOUND_S = 60
"""Far more than a command takes on a busy machine; the error is there at once."""
SKILL = "---\nname: {0}\ndescription: Checks the paycheck of an employee.\n---\nDo it.\n"
CASES = [
    *[
        ("H/.config/skillyard/skillyard.toml", command, code)
        for command, code in [
            ("doctor", 1),
            ("search paycheck", 2),
            ("add a", 2),
            ("add ./src/b", 2),
        ]
    ],
    *[
        ("P/skillyard-policy.toml", command, 2)
        for command in (
            "list",
            "select paycheck",
            "policy",
            "add ./src/b --agent claude-code --yes",
        )
    ],
    *[("P/skills-lock.json", command, 2) for command in ("verify", "update", "sync", "remove a")],
    *[("P/skillyard.toml", command, 2) for command in ("check .", "select paycheck")],
    ("H/.claude/settings.json", "doctor", 1),
    ("H/.claude/settings.json", "hook install claude-code", 2),
    ("H/.claude/plugins/installed_plugins.json", "list --scope user --json", 0),
    ("S/feedback.jsonl", "select paycheck", 1),
]


@for_each("file, command, code", CASES)
@for_each("kind", [("pipe",), ("device",)])
def test_no_command_waits_for_it(
    tmp_path: Path, file: str, command: str, code: int, kind: str
) -> None:
    made_project(tmp_path)
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    done = run(tmp_path, *command.split())
    said = done.stdout + done.stderr
    assert (done.returncode, path.name in said) == (code, True), said
    assert "internal error" not in said


def test_a_pipe_that_the_user_names_is_read(tmp_path: Path) -> None:
    made_project(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("check the paycheck of an employee",))
    writer.start()
    done = run(tmp_path, "inject", "--file", str(pipe), "--json")
    writer.join()
    assert "paycheck" in done.stdout, done.stderr


@for_each("words", [("inject", "--file", "/dev/zero"), ("select", "-")])
def test_an_endless_text_is_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    made_project(tmp_path)
    with open("/dev/zero", "rb") as endless:
        done = run(tmp_path, *words, stdin=endless.fileno())
    assert done.returncode == 2
    assert "is larger than 16,777,216 bytes; shorten it" in done.stderr


def made_project(folder: Path) -> None:
    for name in ("P/.claude/skills/a", "P/src/b", "H", "S"):
        (folder / name).mkdir(parents=True)
    (folder / "P/.git").mkdir()
    (folder / "P/.claude/skills/a/SKILL.md").write_text(SKILL.format("a"))
    (folder / "P/src/b/SKILL.md").write_text(SKILL.format("b"))


def run(
    folder: Path, *words: str, stdin: int = subprocess.DEVNULL
) -> subprocess.CompletedProcess[str]:
    environment = {name: text for name, text in os.environ.items() if "SKILLYARD" not in name}
    return subprocess.run(
        [sys.executable, "-m", "skillyard", *words],
        cwd=folder / "P",
        env={
            **environment,
            "PYTHONPATH": str(PACKAGES),
            "HOME": str(folder / "H"),
            "SKILLYARD_STATE": str(folder / "S"),
            "SKILLYARD_CACHE": str(folder / "C"),
            "SKILLYARD_OFFLINE": "1",
        },
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
