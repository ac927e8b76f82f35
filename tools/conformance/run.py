"""Run the protocol's own conformance scenarios against our server.

    python tools/conformance/run.py

The runner comes from npm, pinned by ``package-lock.json`` with the hash of every file, into
``build/conformance``. The server is ``skillyard serve --mcp http`` over the example library. What
each scenario must pass stands in ``expected.json`` as [passed, failed]; passing less, or failing
more, ends with 1. Where node 20 or npm is absent nothing is run, which is said, and ends with 0.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))

from pinned_npm import BUILD, install, missing  # noqa: E402 - a script beside this folder

RUNNER = BUILD / "conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"
NODE = 20
PATIENCE_S = 300


class Outcome(NamedTuple):
    """Checks of one scenario by what became of them."""

    passed: int
    failed: int

    def loses_to(self, expected: Outcome) -> bool:
        """True where less passed than is wanted, or more failed."""
        return self.passed < expected.passed or self.failed > expected.failed


@contextmanager
def serving(work: Path) -> Iterator[str]:
    """Give the address of our server over the example library."""
    command = [sys.executable, "-m", "skillyard", "serve", "--mcp", "http", "--port", "0"]
    environment = {**os.environ, "SKILLYARD_CACHE": str(work / "cache")}
    log = work / "server.log"
    with log.open("w") as errors:
        server = subprocess.Popen(
            [*command, "--tools", "all", "--local-only", str(REPOSITORY / "examples" / "skills")],
            stderr=errors, env=environment,
        )  # fmt: skip
    try:
        yield address(server, log)
    finally:
        server.terminate()
        server.wait()


def address(server: subprocess.Popen[bytes], log: Path) -> str:
    """Return where the server listens, as its log says. Raises SystemExit where it ends."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and server.poll() is None:
        first, newline, _ = log.read_text().partition("\n")
        if newline:
            return str(json.loads(first)["url"])
        time.sleep(0.05)
    raise SystemExit(f"the server did not start:\n{log.read_text()}")


def ran(arguments: list[str], out: Path) -> dict[str, Outcome]:
    """Run scenarios in one process of the runner; return the outcomes by scenario.

    Raises SystemExit where there are none.
    """
    command = ["node", "--import", str(HERE / "node20.mjs"), str(RUNNER), "server", *arguments]
    process = subprocess.run(
        [*command, "-o", str(out)],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    outcomes_by_name = {}
    for checks in out.glob("*/checks.json"):
        name = re.fullmatch(r"(?:server-)?(.*)-\d{4}-\d\d-\d\dT[\dZ-]+", checks.parent.name)
        assert name is not None, checks.parent.name
        counted = Counter(check["status"] for check in json.loads(checks.read_text()))
        outcomes_by_name[name[1]] = Outcome(counted["SUCCESS"], counted["FAILURE"])
    if not outcomes_by_name:
        raise SystemExit(f"the runner gave no result:\n{process.stdout}{process.stderr}")
    return outcomes_by_name


def outcomes() -> dict[str, Outcome]:
    """Run every scenario for servers."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as url:
        return ran(["--url", url, "--suite", "all"], Path(folder) / "server")


def main() -> int:
    """Compare what passes with what is expected, in a line for each; return the exit status."""
    lacking = missing(NODE)
    if lacking:
        print(f"conformance: not run: {lacking}")
        return 0
    install(HERE)
    expected = json.loads((HERE / "expected.json").read_text())
    results = outcomes()
    lost = []
    for name, counts in expected.items():
        expected_outcome, came = Outcome(*counts), results.get(name, Outcome(0, 0))
        verdict = "ok" if came == expected_outcome else "better than expected.json says"
        if came.loses_to(expected_outcome):
            verdict = (
                f"LOST: {expected_outcome.passed} passed, {expected_outcome.failed} failed before"
            )
            lost.append(name)
        print(f"{name:34} {came.passed:3} passed {came.failed:3} failed  {verdict}")
    print(f"conformance: lost {', '.join(lost)}" if lost else "conformance: nothing lost")
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
