"""Test the surfaces with the clients that other people wrote, each from its registry.

    .venv-clients/bin/python tools/clients/run.py [arguments of pytest]

Skyll's client, FastMCP's client and the SDK of MCP are packages of the environment that runs this
(``tools/venv .venv-clients clients``). MCP Inspector and ``npx skills`` come from npm into
``build/clients`` (300 MB), pinned by ``package-lock.json`` with the hash of every file, and with
them the Node that they need. Where node 20 or npm, which install them, are absent nothing is run,
which is said, and ends with 0; on CI with 1.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from pinned_npm import install, missing  # noqa: E402 - a script beside this folder

NODE = 20


def main() -> int:
    """Install the programs of npm and run the tests; return the exit status."""
    lacking = missing(NODE)
    if lacking:
        print(f"clients: not run: {lacking}")
        return 1 if os.environ.get("CI") else 0
    os.environ["SKILLYARD_CLIENTS"] = "1"
    os.environ["SKILLYARD_CLIENTS_NPM"] = str(install(HERE) / "node_modules")
    command = [sys.executable, "-m", "pytest", "--all", "tests/clients", *sys.argv[1:]]
    return os.spawnv(os.P_WAIT, sys.executable, command)


if __name__ == "__main__":
    sys.exit(main())
