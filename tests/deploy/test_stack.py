"""What ``deploy/compose`` starts, as processes of this machine: the same commands, no containers.

PostgreSQL with its standby, the schema, three nodes, the proxy; a publish by the command of the
README, the death of the primary, its promotion by the README, and a publish after it. All the
while the proxy is asked.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.deploy.databases import OWNER, Made, made_primary, standby, streaming
from tests.deploy.files import DEPLOY, commands, compose
from tests.deploy.node_cluster import TOKEN, Node, asked, haproxy, proxy, running, until
from tests.deploy.shell import run
from tests.shared_data import PACKAGES, REPOSITORY
from tests.store.servers import USER

pytest.importorskip("uvicorn")

pytestmark = pytest.mark.slow

GENERATION = "skillyard-generation"


class Stack(NamedTuple):
    made: Made
    standby: int
    secrets: Path
    nodes: list[Node]
    proxy: int

    def entered(self, command: list[str], state: Path | None = None) -> list[str]:
        """Return a command of the compose file as it runs here, through the entry point."""
        return entered(command, self.made.primary.port, self.standby, state)

    def generations(self) -> set[str]:
        """Return which generation each node answers from."""
        return {asked(node.port, "/search?q=csv")[1][GENERATION] for node in self.nodes}

    def wait_for(self, generation: str) -> None:
        """Return when every node answers from it; fail after a while."""
        for _ in range(1_500):
            if self.generations() == {generation}:
                return
            threading.Event().wait(0.02)
        raise AssertionError(f"the nodes answer from {self.generations()}")


def entered(command: list[str], primary: int, standby: int, state: Path | None) -> list[str]:
    here = {
        "primary:5432": f"127.0.0.1:{primary}",
        "replica:5432": f"127.0.0.1:{standby}",
        "/var/lib/skillyard/state": str(state),
        "0.0.0.0": "127.0.0.1",
        "8765": "0",
        "/library": "examples/skills",
    }
    words = command[1:]
    for there, word in here.items():
        words = [found.replace(there, word) for found in words]
    program = [sys.executable, "-m", "skillyard"]
    return ["/bin/sh", str(DEPLOY / "container" / "entrypoint"), *program, *words]


def environment_of(service: str, secrets: Path) -> dict[str, str]:
    """Return what a service of the compose file is told, its secrets in this folder."""
    told = compose()["services"][service]["environment"]
    return {name: value.replace("/run/secrets", str(secrets)) for name, value in told.items()}


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """All that compose starts."""
    haproxy()
    for name, text in (("owner_password", OWNER), ("http_token", TOKEN)):
        (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
    services = compose()["services"]
    with ExitStack() as started:
        made = started.enter_context(made_primary())
        port = started.enter_context(standby(made, made.folder / "standby"))
        streaming(made)
        found = Stack(made, port, tmp_path, [], 0)
        once(found, services["schema"]["command"])
        for number in (1, 2, 3):
            name = f"node-{number}"
            command = found.entered(services[name]["command"], tmp_path / name)
            told = environment_of(name, tmp_path) | {"SKILLYARD_CACHE": str(tmp_path / "cache")}
            found.nodes.append(started.enter_context(running(command, told)))
        proxied = started.enter_context(proxy(*(node.port for node in found.nodes)))
        yield found._replace(proxy=proxied)


def once(stack: Stack, command: list[str]) -> None:
    """Run a command to its end."""
    done = subprocess.run(
        stack.entered(command),
        cwd=REPOSITORY,
        env={
            **os.environ,
            "PYTHONPATH": str(PACKAGES),
            **environment_of("schema", stack.secrets),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert OWNER not in done.stdout + done.stderr


def readme() -> str:
    return (DEPLOY / "compose" / "README.md").read_text(encoding="utf-8")


def test_the_whole_serves_publishes_and_survives_its_primary(stack: Stack) -> None:
    services = compose()["services"]
    publish, migrate = [c.arguments for c in commands() if c.where == "README.md"]
    assert publish[-4:-2] == ["--durability", "synchronous"]
    once(stack, ["skillyard", *publish])
    until(stack.proxy, 200)
    stack.wait_for("1")
    statuses: list[int] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            statuses.append(asked(stack.proxy, "/search?q=clean%20csv%20files&limit=3")[0])

    client = threading.Thread(target=ask)
    client.start()
    try:
        # Started again, the whole makes its schema again: nothing happens to what is there.
        once(stack, services["schema"]["command"])
        once(stack, ["skillyard", *migrate])
        stack.made.primary.kill()
        (promote,) = re.findall(r"docker compose exec replica (psql .*)", readme())
        words = [*shlex.split(promote), f"--host={stack.made.folder}", f"--port={stack.standby}"]
        words = [word.replace("--username=postgres", f"--username={USER}") for word in words]
        run(shlex.join([*words, "--dbname=postgres"]), stack.made.folder, {})
        # Another copy of the same skills, elsewhere: every one of them is new.
        local = [word if word != "synchronous" else "local" for word in publish]
        once(stack, ["skillyard", *local, "--namespace", "after"])
        stack.wait_for("2")
    finally:
        stop.set()
        client.join()
    assert len(statuses) > 20
    assert set(statuses) == {200}
    status, headers, body = asked(stack.proxy, "/search?q=clean%20csv%20files&limit=1")
    assert (status, headers[GENERATION]) == (200, "2")
    assert b"csv-cleaning" in body
