"""A folder in which commands run for real, and what each run leaves behind."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import closing, redirect_stderr, redirect_stdout
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

import pytest

from skillyard.cli import main
from skillyard_testkit import FakeServers
from skillyard_testkit.fake_llm import FakeLlm
from tests.cli.making import write
from tests.cli.remotes import text
from tests.configuration import configure

__all__ = ["TOKEN", "Row", "Seen", "World", "row"]

TOKEN = "the-token-of-the-service"
PROMPT = "clean this csv file"


class Row(NamedTuple):
    """How an option is shown: its words, and what else stands on both command lines."""

    given: tuple[str, ...]
    base: tuple[str, ...] | None = None
    """The arguments that are the same without the option; None: those of the command."""
    refused: str = ""
    """The option is refused with these words."""
    prompt: str = PROMPT
    """What a hook reads."""


def row(given: str, base: str | None = None, *, refused: str = "", prompt: str = PROMPT) -> Row:
    words = None if base is None else tuple(base.split())
    return Row(tuple(given.split()), words, refused, prompt)


class Seen(NamedTuple):
    """What a run left behind, without what differs from run to run."""

    code: int
    out: str
    err: str
    files: dict[str, str]
    requests: int


_VARYING = re.compile(
    r"\d+(\.\d+)? ?(ms|s)\b|\d{4}-\d\d-\d\dT[\d:.Z+]+|\d{8}T\d{6}Z-[0-9a-f]+"
    r"|(?<=_s\": )[\d.e-]+|(?<=\bms\": )[\d.e-]+|\b\d\d:\d\d:\d\d\b|127\.0\.0\.1:\d+"
    r"|(?<=\"id\": \")[0-9a-f]{16}\b|(?<=\"call\":\")[0-9a-f]{16}\b"  # of a request
    r"|'[0-9a-f]{16}'|\b1[78]\d{8}\b"  # an id, and a time, in a store
)


class World:
    """A folder that every run finds as it was."""

    def __init__(
        self,
        tmp: Path,
        servers: FakeServers,
        models: FakeLlm,
        build: Callable[[Path], None],
        prepared: Iterable[str],
    ) -> None:
        self.kept, self.place = tmp / "kept", tmp / "world"
        self._servers, self._models = servers, models
        self._bases: dict[tuple[tuple[str, ...], str], Seen] = {}
        build(self.place)
        os.chdir(self.place / "work")
        for line in prepared:
            code, out, err = self._main(tuple(line.split()))
            assert code in (0, 1), f"{line}: {out}{err}"
        with pytest.MonkeyPatch.context() as patch:
            configure(patch, tmp / "logged", log={"file": "log.jsonl", "text": True})
            self._main(("select", PROMPT, "--root", "skills"))
        write(Path("other"), {"paint/SKILL.md": text("paint", "Paints a wall, and a door.")})
        os.chdir(tmp)
        self.place.rename(self.kept)

    def base(self, words: tuple[str, ...], prompt: str = PROMPT) -> Seen:
        """Return what a run left behind; each is made once."""
        if (words, prompt) not in self._bases:
            self._bases[words, prompt] = self.run(words, prompt)
        return self._bases[words, prompt]

    def run(self, words: tuple[str, ...], prompt: str = PROMPT) -> Seen:
        """Run a command in the world as it was."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.kept, self.place, symlinks=True)
        os.chdir(self.place / "work")
        before = self._requests()
        if words[0] == "serve":
            code, out, err = self._serve(words)
        else:
            payload = {"hook_event_name": "UserPromptSubmit", "prompt": prompt, "cwd": os.getcwd()}
            stdin = json.dumps(payload) if words[0] == "hook" else ""
            code, out, err = self._main(words, stdin)
        files = {
            _steady(path.relative_to(self.place).as_posix()): _content(path)
            for path in sorted(self.place.rglob("*"))
            if path.is_file() and "cache" not in path.parts
        }
        return Seen(code, out, err, files, self._requests() - before)

    def _requests(self) -> int:
        return len(self._servers.requests) + len(self._models.log.calls)

    def _main(self, words: tuple[str, ...], stdin: str = "") -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            redirect_stdout(out),
            redirect_stderr(err),
            TemporaryFile("w+") as prompt,
        ):
            prompt.write(stdin)
            prompt.seek(0)
            patch.setattr("sys.stdin", prompt)
            if words[0] == "hook":  # what it starts in the background
                patch.setattr(os, "posix_spawn", lambda *_, **__: print("started") or 1)
            code = main(words)
        return code, _steady(out.getvalue()), _steady(err.getvalue())

    def _serve(self, words: tuple[str, ...]) -> tuple[int, str, str]:
        """Run the service, send it :data:`_PROBES`, and interrupt it."""
        assert threading.current_thread() is threading.main_thread(), "signals come here"
        with closing(socket.create_server(("127.0.0.1", 0))) as unused:
            port = str(unused.getsockname()[1])
        ended, answers = threading.Event(), list[str]()

        def look() -> None:
            if _is_ready(int(port), ended):
                try:
                    answers.extend(_answer(int(port), *probe) for probe in _PROBES)
                finally:
                    os.kill(os.getpid(), signal.SIGINT)

        before, thread = sys.getswitchinterval(), threading.Thread(target=look)
        thread.start()
        try:
            code, out, err = self._main(tuple(port if word == "PORT" else word for word in words))
        finally:
            ended.set()
            thread.join()
            sys.setswitchinterval(before)
        return code, out + "\n".join(answers), err.replace(port, "PORT")


_PROBES: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("GET", "/", {}),
    ("GET", "/search?q=draw+a+line", {}),
    ("POST", "/select", {"Content-Type": "application/json"}),
    ("GET", "/readyz", {}),
    ("GET", "/health", {"Host": "skills.example"}),
    ("GET", "/health", {"Origin": "https://pages.example"}),
    ("GET", "/.well-known/agent-skills/index.json", {}),
    ("POST", "/feedback", {"Content-Type": "application/json"}),
)
_BODIES = {
    "/select": {"query": "clean this csv file"},
    "/feedback": {"name": "csv-cleaning", "request": "clean this csv", "right": True},
}


def _answer(port: int, method: str, path: str, headers: dict[str, str]) -> str:
    """Return one response as text, without what differs from run to run."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        body = json.dumps(_BODIES[path]) if path in _BODIES else None
        connection.request(method, path, body, {"Authorization": f"Bearer {TOKEN}", **headers})
        response = connection.getresponse()
        origin = response.getheader("Access-Control-Allow-Origin")
        content = response.read().decode("utf-8", "replace").replace(str(port), "PORT")
    return f"{method} {path} {headers}: {response.status} {origin} {_steady(content)}"


def _is_ready(port: int, ended: threading.Event) -> bool:
    """Wait until a service answers; False where it ended before."""
    for _ in range(1_200):
        if ended.wait(0.05):
            return False
        try:
            if "starting" not in _answer(port, "GET", "/readyz", {}):
                return True
        except (OSError, HTTPException):
            pass
    return True


def _steady(content: str) -> str:
    return _VARYING.sub("…", content)


def _content(path: Path) -> str:
    """Return what a file says, without what differs from run to run."""
    data = path.read_bytes()
    if not data.startswith(b"SQLite format 3"):
        lines = _steady(data.decode("latin-1")).splitlines()
        return "\n".join(sorted(lines) if path.name == "events.jsonl" else lines)
    with closing(sqlite3.connect(path)) as database:
        return _steady("\n".join(database.iterdump()))
