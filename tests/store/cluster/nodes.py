"""``skillyard serve --store`` as processes, asked from outside like a load balancer does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.shared_data import PACKAGES

__all__ = ["TOKEN", "Node", "alive_children", "is_alive", "node", "until"]

TOKEN = "a-token-of-the-nodes"
PATIENCE_S = 60.0


def until(true: Callable[[], Any], what: str = "it", patience_s: float = PATIENCE_S) -> Any:
    """Return what ``true`` returns as soon as that is true; fail when the time is up."""
    end = time.monotonic() + patience_s
    while not (found := true()):
        assert time.monotonic() < end, f"{what} did not happen within {patience_s:g} s"
        time.sleep(0.02)
    return found


class Node:
    """One process with a folder of its own, which outlives it."""

    def __init__(self, url: str, folder: Path, *options: str) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.host = "127.0.0.1"
        self.port = 0
        self._url = url
        self._options = options
        self._starts = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._client = httpx2.Client(
            timeout=20, trust_env=False, headers={"Authorization": f"Bearer {TOKEN}"}
        )

    @property
    def log(self) -> Path:
        """What its last process wrote on standard error."""
        return self.folder / f"log-{self._starts}"

    @property
    def pid(self) -> int:
        """Of the process."""
        assert self._process is not None
        return self._process.pid

    @property
    def running(self) -> bool:
        """True until the process has ended."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it, and return when it listens; it need not be ready then."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._starts += 1
        command = (
            *(sys.executable, "-m", "skillyard", "serve", "--store", self._url),
            *("--state-dir", str(self.state), "--host", self.host, "--port", str(self.port)),
            *("--local-only", *self._options),
        )
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environment()
            )
        # The same port when it starts again, as a balancer knows it.
        self.port = int(until(self._listening, "listening").rpartition(":")[2])

    def _environment(self) -> Mapping[str, str]:
        kept = {name: text for name, text in os.environ.items() if "SKILLYARD" not in name}
        return {
            **kept,
            "PYTHONPATH": str(PACKAGES),
            "SKILLYARD_CACHE": str(self.folder / "cache"),
            "SKILLYARD_HTTP_TOKEN": TOKEN,
            "XDG_CONFIG_HOME": str(self.folder / "settings"),
        }

    def _listening(self) -> str:
        for line in self.events():
            if line["event"] == "listening":
                return str(line["url"])
        assert self.running, f"it ended: {self.log.read_text()[-2_000:]}"
        return ""

    def events(self) -> list[dict[str, Any]]:
        """Return what its last process has logged so far."""
        lines = self.log.read_text(encoding="utf-8").splitlines(keepends=True)
        return [json.loads(line) for line in lines if line[:1] == "{" and line[-1:] == "\n"]

    def get(self, path: str) -> httpx2.Response:
        """Ask it."""
        return self._client.get(f"http://{self.host}:{self.port}{path}")

    def probe(self, path: str) -> tuple[int, str]:
        """Return status and word of a probe."""
        answer = self.get(path)
        return answer.status_code, answer.text.strip()

    @property
    def ready(self) -> bool:
        """True when a balancer would send it requests."""
        try:
            return self.running and self.probe("/readyz")[0] == 200
        except httpx2.HTTPError:
            return False

    def store(self) -> dict[str, Any]:
        """Return what it says of itself and its store."""
        return dict(self.get("/health").json()["store"])

    @property
    def failure(self) -> str:
        """What its log says of following the store last; empty when all is well.

        What ``/health`` tells everybody is only that there is something, and it agrees.
        """
        told = [event for event in self.events() if event["event"] == "store"]
        return str(told[-1].get("error", "")) if told else ""

    def wait_generation(self, generation: int, patience_s: float = PATIENCE_S) -> None:
        """Return when its answers come from a generation."""

        def there() -> bool:
            return self.get("/rank?q=stone&limit=1").headers.get(GENERATION) == str(generation)

        until(there, f"generation {generation}", patience_s)

    def kill(self) -> None:
        """End it as a loss of power does."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End it, however it stands."""
        self._client.close()
        if self.running:
            self.kill()


GENERATION = "Skillyard-Generation"


@contextmanager
def node(url: str, folder: Path, *options: str, **more: Any) -> Iterator[Node]:
    """Give a node that listens; it is gone when the context ends."""
    made = Node(url, folder, *options, **more)
    try:
        made.start()
        yield made
    finally:
        made.close()


def alive_children(pid: int) -> list[int]:
    """Return the processes below one, theirs too."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
    found: list[int] = []
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        children = [child for child, its in parents.items() if its == parent]
        found += children
        waiting += children
    return sorted(found)


def is_alive(pid: int) -> bool:
    """True for a process that has not ended; one that nobody has collected yet has."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state not in ("Z", "X")
