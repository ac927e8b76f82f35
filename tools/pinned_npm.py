"""Programs from npm, pinned by a lock file with the hash of every file, below ``build``."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

__all__ = ["BUILD", "install", "missing"]

BUILD = Path(__file__).resolve().parents[1] / "build"


def missing(least: int) -> str:
    """Return what this machine lacks to run node of that version, empty where it lacks nothing."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return "node and npm are not installed (Debian: apt-get install nodejs npm)"
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    match = re.match(r"v(\d+)", version)
    if match is None or int(match.group(1)) < least:
        return f"node is {version.strip()}, and {least} or newer is needed"
    return ""


def install(pinned: Path, *then: list[str]) -> Path:
    """Install what a folder's lock file pins; return where, below ``build`` by the folder's name.

    No package runs a script of its own; ``then`` are commands of ours that follow there. What
    stands there of this very lock file is left as it is. Raises CalledProcessError.
    """
    into = BUILD / pinned.name
    stamp = into / ".installed"
    digest = hashlib.sha256((pinned / "package-lock.json").read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text() == digest:
        return into
    into.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(pinned / name, into)
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    for command in (["npm", "ci", *quiet], *then):
        subprocess.run(command, cwd=into, check=True)
    stamp.write_text(digest)
    return into
