"""The libraries, served by the ``skillyard`` command as a process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

import pytest

from tests.clients.libraries import Library, library_of, write_corpus
from tests.shared_data import MISSING, REPOSITORY, shared_folder

PATIENCE_S = 60.0
SKILLYARD = Path(sys.executable).with_name("skillyard")


class Served(NamedTuple):
    """A library, and how clients reach it."""

    url: str
    """Of ``skillyard serve``, which has HTTP, the well-known index, and MCP at ``/mcp``."""
    stdio: tuple[str, ...]
    """The command of ``skillyard serve --mcp stdio``, which a client starts by itself."""
    environment: dict[str, str]
    library: Library


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("SKILLYARD_CLIENTS") == "1":
        return
    skip = pytest.mark.skip(reason="other people's clients are not installed (make clients)")
    for item in items:
        if item.nodeid.startswith("tests/clients/"):
            item.add_marker(skip)


@pytest.fixture(scope="session", params=["examples", "corpus"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The skills of ``examples/`` and 500 of the corpus, in a folder of the test."""
    root = tmp_path_factory.mktemp(request.param) / "skills"
    if request.param == "examples":
        shutil.copytree(REPOSITORY / "examples" / "skills", root)
        return library_of(root)
    shared = shared_folder()
    if shared is None:
        pytest.skip(MISSING)
    return write_corpus(shared, root)


@pytest.fixture(scope="session")
def served(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The library, served until the tests over it have ended."""
    home = tmp_path_factory.mktemp("home")
    # No more than what a client hands on to a server that it starts: so both have one index.
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    given = ("--local-only", str(library.root))
    log = home / "server.log"
    with log.open("w") as errors:
        server = subprocess.Popen(
            [SKILLYARD, "serve", "--port", "0", *given],
            stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, env=environment, cwd=home,
        )  # fmt: skip
    stdio = (str(SKILLYARD), "serve", "--mcp", "stdio", *given)
    try:
        yield Served(_address(server, log), stdio, environment, library)
    finally:
        server.terminate()
        server.wait(PATIENCE_S)


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    """Return the address that the first line of the log names, once every skill has been read."""
    url, deadline = "", time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and server.poll() is None:
        first, newline, _ = log.read_text(encoding="utf-8").partition("\n")
        url = str(json.loads(first)["url"]) if newline else ""
        if url and _is_ready(url):
            return url
        time.sleep(0.05)  # a process says nothing when it is ready: it has to be asked
    raise AssertionError(f"the server did not start:\n{log.read_text(encoding='utf-8')}")


def _is_ready(url: str) -> bool:
    try:
        with urlopen(f"{url}/readyz", timeout=PATIENCE_S) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
