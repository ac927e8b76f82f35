"""Test the hook, the MCP server and the listings inside the real Claude Code and Codex.

    python tools/hosts/run.py [arguments of pytest]

Both programs come from npm, pinned by ``package-lock.json``, into ``build/hosts`` (700 MB). They
ask a scripted model on this machine; updates and figures for their makers are switched off. Each
is under its maker's own terms. Where node 20 or npm is absent nothing is run, which is said, and
ends with 0; on CI with 1.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from pinned_npm import install, missing  # noqa: E402 - a script beside this folder

NODE = 20
NATIVE = ["node", "node_modules/@anthropic-ai/claude-code/install.cjs"]
"""Claude Code's own script: it puts the program for this machine in its place."""


def main() -> int:
    """Install both and run the tests; return the exit status."""
    lacking = missing(NODE)
    if lacking:
        print(f"hosts: not run: {lacking}")
        return 1 if os.environ.get("CI") else 0
    programs = install(HERE, NATIVE) / "node_modules" / ".bin"
    os.environ["SKILLYARD_HOSTS"] = str(programs)
    return os.spawnv(
        os.P_WAIT,
        sys.executable,
        [sys.executable, "-m", "pytest", "--all", "tests/hosts/real", *sys.argv[1:]],
    )


if __name__ == "__main__":
    sys.exit(main())
