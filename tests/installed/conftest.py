"""Environments with nothing in them but the wheel, and processes that run there.

``make test-installed`` builds the wheels and runs these tests; elsewhere they are skipped. What
they start sees an empty home, a folder outside the checkout and no variable of the caller's.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.shared_data import REPOSITORY

DIST = os.environ.get("SKILLYARD_DIST", "")
TIMEOUT_S = 120.0
"""A bound on hangs, nothing else."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = [item for item in items if "tests/installed/" in item.nodeid]
    for item in here:
        item.add_marker(pytest.mark.slow)
        if not DIST:
            item.add_marker(pytest.mark.skip(reason="needs built wheels: make test-installed"))


class Done(NamedTuple):
    """What one process left behind."""

    code: int
    out: str
    err: str


class Answer(NamedTuple):
    """What a service answered."""

    status: int
    body: str


class Installed:
    """One environment with wheels in it, and a person's folder beside it."""

    def __init__(self, folder: Path, *requirements: str) -> None:
        self.python = folder / "venv" / "bin" / "python"
        self.home = folder / "home"
        self.folder = folder / "work"
        self.home.mkdir(parents=True)
        shutil.copytree(
            REPOSITORY / "examples",
            self.folder / "examples",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        pins = folder / "pins.txt"
        pins.write_text(pinned_versions(), encoding="utf-8")
        pip = f"{self.python} -m pip install -qq --disable-pip-version-check --no-compile"
        command = [*pip.split(), "--constraint", str(pins), *requirements]
        subprocess.run(command, check=True, cwd=folder)

    def environment(self, more: Mapping[str, str] = {}) -> dict[str, str]:
        """Return what a person's shell has set, and nothing of this test run."""
        return {
            "HOME": str(self.home),
            "PATH": os.pathsep.join((str(self.python.parent), "/usr/bin", "/bin")),
            "LANG": "C.UTF-8",
            **more,
        }

    def run(self, *words: str, stdin: str = "", **more: str) -> Done:
        """Run a program of the environment's ``bin`` and return what it left behind."""
        done = subprocess.run(
            [str(self.python.parent / words[0]), *words[1:]],
            cwd=self.folder,
            env=self.environment(more),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    @contextmanager
    def started(self, *words: str) -> Iterator[Iterator[str]]:
        """The lines that a program prints while it runs; it is ended with the block."""
        with subprocess.Popen(
            [str(self.python.parent / words[0]), *words[1:]],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            try:
                yield process.stdout
            finally:
                process.terminate()

    @contextmanager
    def remotes(self) -> Iterator[dict[str, str]]:
        """The variables that lead every remote source, and the model, to stand-ins of the wheel.

        ``SKILLYARD_CONFIG`` names a file to which more can be added.
        """
        command = ("python", "-m", "skillyard_testkit", "--library", "examples/skills")
        fake_llm = ("python", "-m", "skillyard_testkit.fake_llm")
        with self.started(*command) as sources, self.started(*fake_llm) as model:
            file = self.folder / "skillyard.toml"
            file.write_text("".join(next(sources) for _ in range(5)), encoding="utf-8")
            yield {
                "SKILLYARD_CONFIG": str(file),
                "ANTHROPIC_BASE_URL": address_of(model),
                "ANTHROPIC_API_KEY": "none",
            }

    @contextmanager
    def served(self, *words: str, **more: str) -> Iterator[str]:
        """The address of a service that ``skillyard serve`` runs on a free port."""
        command = [str(self.python.parent / "skillyard"), "serve", *words, "--port", "0"]
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment(more),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            try:
                yield address_of(process.stderr)
            finally:
                process.terminate()
                process.stderr.read()
                process.wait(timeout=30)


def address_of(lines: Iterator[str]) -> str:
    """Return the first address in the lines that a service prints while it starts."""
    before = []
    for line in lines:
        match = re.search(r"http://127\.0\.0\.1:\d+", line)
        if match:
            return match.group()
        before.append(line)
    raise AssertionError("the service ended before it listened:\n" + "".join(before))


def ask(url: str, body: object = None, **headers: str) -> Answer:
    """Return the answer to a GET, or to a POST when there is a body: bytes as they are, or JSON."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = Request(url, data, {"Content-Type": "application/json", **headers})
    try:
        with urlopen(request, timeout=TIMEOUT_S) as answer:
            return Answer(answer.status, answer.read().decode(errors="replace"))
    except HTTPError as error:
        return Answer(error.code, error.read().decode())


def pinned_versions() -> str:
    """Return the versions that the development environment has, as constraints without hashes."""
    text = (REPOSITORY / "requirements" / "dev.txt").read_text(encoding="utf-8")
    lines = re.findall(r"^([\w.-]+)(?:\[\w+\])?(==[^\s;]+)((?: ;[^\\\n]*)?)", text, re.MULTILINE)
    return "".join(f"{name}{version}{marker}\n" for name, version, marker in lines)


def wheel(pattern: str) -> Path:
    """Return the one wheel in dist/ whose name fits."""
    (path,) = Path(DIST).resolve().glob(pattern)
    return path


@pytest.fixture(scope="session")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel with the kernel and every extra of ``[all]``, and the testkit's."""
    path, testkit = wheel("skillyard-*-abi3-*.whl"), wheel("skillyard_testkit-*.whl")
    return Installed(tmp_path_factory.mktemp("complete"), f"{path}[all]", str(testkit))


@pytest.fixture(scope="session")
def core(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel without the kernel, and no extra."""
    return Installed(tmp_path_factory.mktemp("core"), str(wheel("skillyard-*-none-any.whl")))
