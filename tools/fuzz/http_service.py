"""The HTTP service, asked by schemathesis what its OpenAPI document allows and what it forbids."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["NAME", "fuzz"]

NAME = "http"
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLES = ROOT / "examples" / "skills"
PATIENCE_S = 60.0


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Give the address of the service over the example library, without remotes."""
    log = folder / "server.log"
    command = [sys.executable, "-m", "skillyard", "serve", "--http", "--port", "0", "--local-only"]
    environment = {**os.environ, "SKILLYARD_CACHE": str(folder / "cache")}
    with (
        log.open("wb") as errors,
        subprocess.Popen([*command, str(EXAMPLES)], stderr=errors, env=environment) as server,
    ):
        try:
            yield _address(server, log)
        finally:
            server.terminate()


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and server.poll() is None:
        match = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        if match is not None:
            return match.group()
        time.sleep(0.05)
    raise SystemExit(f"fuzz: the service did not start: {log.read_text()}")


def fuzz(seconds: float, seed: int) -> int:
    """Run schemathesis for so long, print what it counted, return its faults."""
    with tempfile.TemporaryDirectory() as place, serving(Path(place)) as url:
        report = Path(place, "report.json")
        process = subprocess.run(
            [
                str(Path(sys.executable).with_name("schemathesis")),
                "--config-file", str(HERE / "schemathesis.toml"), "run", f"{url}/openapi.json",
                "--max-time", str(round(seconds)), "--seed", str(seed), "--checks", "all",
                "--continue-on-failure", "--max-examples", "100000", "--request-timeout", "30",
                "--suppress-health-check", "all",
                "--generation-database", "none", "--warnings", "off", "--no-color",
                "--report", "json", "--report-json-path", str(report),
            ],
            cwd=place, check=False, capture_output=True, text=True,
        )  # fmt: skip
        log = Path(place, "server.log").read_text()
        failures = [line for line in log.splitlines() if '"event": "failure"' in line]
        if process.returncode or failures:
            print(process.stdout, process.stderr, *failures, sep="\n", file=sys.stderr)
        counted = json.loads(report.read_text()) if report.exists() else {}
    counts = _counts(counted, process.stdout)
    print(f"fuzz: {NAME}: ended with {process.returncode}, seed {seed}; {counts}")
    return int(bool(process.returncode or failures))


def _counts(counted: dict[str, object], out: str) -> str:
    counts = re.findall(r"^\s*([\d,]+ generated.*|[\d,]+ .*passed.*)$", out, re.MULTILINE)
    return " ".join(counts) or ", ".join(sorted(counted))
