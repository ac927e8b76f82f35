"""Ask a running service by its own description, with what no client sends.

    python tools/fuzz/run.py SCHEMATHESIS [EXAMPLES [SEED]]

The service is ``skillyard serve`` over the example library. What the description allows has to be
answered, what it forbids refused, with the statuses and shapes that it names. It ends with 1 for a
finding, for a failure in the service's log, and for a service that does not stop as asked.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
EXAMPLES = "200"
"""Of each operation."""
SEED = "17"
PATIENCE_S = 60.0


def main(tool: str, examples: str = EXAMPLES, seed: str = SEED) -> int:
    """Return 0 where there is nothing to find."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        environment = {**os.environ, "SKILLYARD_CACHE": f"{folder}/cache"}
        environment |= {"SKILLYARD_HTTP_TOKEN": "", "SKILLYARD_HTTP_TOKEN_FILE": ""}
        words = ["-m", "skillyard", "serve", "examples/skills", "--local-only", "--port", "0"]
        with log.open("w") as errors:
            server = subprocess.Popen(
                [sys.executable, *words], cwd=REPOSITORY, env=environment, stderr=errors
            )
        try:
            url = address(server, log)
            found = subprocess.run(
                [
                    *(tool, "--config-file", str(HERE / "schemathesis.toml")),
                    *("run", f"{url}/openapi.json", "--max-examples", examples, "--seed", seed),
                    *("--continue-on-failure", "--suppress-health-check", "all"),
                ],
                cwd=folder,
                check=False,
            ).returncode
        finally:
            server.terminate()
            ended = server.wait(PATIENCE_S)
        failures = [line for line in log.read_text().splitlines() if '"event": "failure"' in line]
    print(*failures, f"schemathesis {found}, service {ended}", sep="\n")
    return int(bool(found or ended or failures))


def address(server: subprocess.Popen[bytes], log: Path) -> str:
    """Return where the service listens, once it serves. Raises RuntimeError when it does not."""
    end = time.monotonic() + PATIENCE_S
    while '"catalog"' not in log.read_text():
        if server.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"the service did not start: {log.read_text()[-2_000:]}")
        time.sleep(0.05)
    return str(json.loads(log.read_text().splitlines()[0])["url"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
