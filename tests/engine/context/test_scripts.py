"""Scripts: listed always, run only when named and allowed, and never longer or louder than allowed.

The scripts here are written by the tests themselves and run by the interpreter of the suite.
"""

from __future__ import annotations

import os
import select
from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard.engine.context import scripts as scripts_module
from skillyard.engine.context.scripts import ScriptResult
from tests.hostile.watchdog import hang_bound
from tests.parity.trees import write_tree
from tests.worked_examples.making import document

BODY = "First run scripts/go.py, then `tool.sh`."
GO = "import sys\nprint('out', *sys.argv[1:])\nprint('err', file=sys.stderr)\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "p/SKILL.md": document("p", body=BODY),
        "p/scripts/go.py": GO,
        "p/scripts/deep/tool.sh": "echo shell\n",
        "p/scripts/data.txt": "x",
        "p/notes.md": "x",
    }
    return write_tree(tmp_path / "r", files)


def run(root: Path, name: str, *arguments: str, source: str = "", **options: Any) -> ScriptResult:
    """Write ``source`` as that script of the skill, and run it with leave to do so."""
    path = f"scripts/{name}"
    if source:
        write_tree(root, {f"p/{path}": source})
    (one,) = [s for s in sy.load_catalog(root) if s.name == "p"]
    with hang_bound(30):
        return sy.files.run_script(one, path, arguments, allow={path}, **options)


class TestRefused:
    @pytest.mark.parametrize(
        ("path", "allow", "why"),
        [
            ("scripts/go.py", [], "not in the allow list"),
            ("scripts/go.py", ["scripts/go"], "not in the allow list"),
            ("notes.md", ["notes.md"], "not below scripts/"),
            ("./scripts/go.py", ["./scripts/go.py"], "not below scripts/"),
            ("scripts/../notes.md", ["scripts/../notes.md"], "refused"),
            ("scripts/data.txt", ["scripts/data.txt"], "no interpreter is known"),
            ("scripts/gone.py", ["scripts/gone.py"], "no file"),
            ("scripts/deep", ["scripts/deep"], "no file"),
            ("scripts/out.py", ["scripts/out.py"], "leads out"),
            ("scripts/pipe.py", ["scripts/pipe.py"], "no file"),
        ],
    )
    def test_what_is_not_allowed_or_no_script_of_the_skill_does_not_run(
        self, root: Path, path: str, allow: list[str], why: str
    ) -> None:
        (root / "evil.py").write_text("print(1)", encoding="utf-8")
        (root / "p/scripts/out.py").symlink_to("../../evil.py")
        os.mkfifo(root / "p/scripts/pipe.py")
        (one,) = sy.load_catalog(root).skills
        with pytest.raises(sy.errors.ScriptRefused, match=why), hang_bound():
            sy.files.run_script(one, path, allow=allow)

    @pytest.mark.parametrize("arguments", [[5], ["a\0b"], [b"x"], "text"])
    def test_arguments_are_texts(self, root: Path, arguments: Any) -> None:
        (one,) = sy.load_catalog(root).skills
        with pytest.raises(sy.errors.InvalidInput, match="arguments"):
            sy.files.run_script(one, "scripts/go.py", arguments, allow=["scripts/go.py"])

    def test_an_interpreter_that_is_not_there_is_said(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(scripts_module._INTERPRETERS, ".py", ("no-such-interpreter-here",))
        with pytest.raises(sy.errors.ScriptRefused, match="cannot start no-such-interpreter-here"):
            run(root, "go.py")


class TestRun:
    def test_it_runs_in_a_folder_of_its_own_that_is_removed(self, root: Path) -> None:
        source = (
            "import os\nopen('left.txt', 'w').close()\n"
            "print(os.getcwd())\nprint(os.environ['HOME'])\n"
        )
        where, home = run(root, "cwd.py", source=source).stdout.splitlines()
        assert os.path.realpath(where) == os.path.realpath(home)
        assert not os.path.exists(where)
        assert not (root / "p/left.txt").exists()

    def test_modules_beside_it_or_in_our_path_are_not_taken(self, root: Path) -> None:
        write_tree(root, {"p/scripts/json.py": "raise SystemExit('taken')\n"})
        assert run(root, "imp.py", source="import json\nprint(json.dumps(1))\n").stdout == "1\n"


class TestLimits:
    @pytest.mark.parametrize("ending", ["pass", "while True: print('x' * 65536)"])
    def test_what_it_leaves_running_is_ended_with_it(self, root: Path, ending: str) -> None:
        # The child holds the writing end of a pipe; when it is ended, the reader sees the end.
        pipe = root / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        child = "import sys; held = open(sys.argv[1], 'w'); print(1, flush=True)\nwhile True: pass"
        source = (
            "import subprocess, sys\n"
            f"child = subprocess.Popen([sys.executable, '-I', '-c', {child!r}, sys.argv[1]],\n"
            "                         stdout=subprocess.PIPE)\n"
            "child.stdout.readline()\nprint('child runs', flush=True)\n"
            f"{ending}\n"
        )
        try:
            result = run(root, "parent.py", str(pipe), source=source)
            assert result.stdout.startswith("child runs\n")
            assert result.truncated is (ending != "pass")
            readable, _, _ = select.select([reader], [], [], 30)
            assert readable == [reader]
            assert os.read(reader, 1) == b""
        finally:
            os.close(reader)
