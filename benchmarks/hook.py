"""The prompt hook: what a whole answer costs a host, against ``python -c pass``.

Processor time of the whole child, as in :mod:`benchmarks.startup`. The host's JSON comes on
standard input, the index was made before, and nothing is done in the background.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpus import COUNT, records, require_corpus, written_out
from benchmarks.measure import (
    Figure,
    Options,
    Sample,
    Skipped,
    against,
    alternate,
    installed_environment,
)

SUMMARY = "one answer of the prompt hook in a fresh process, against python -c pass"
ROUNDS = 15
SKILLS = 300
PROMPT = "turn a scanned contract into a clean spreadsheet and check the totals"
LIMIT = 8.0
_SKILL = "---\nname: {0}\ndescription: {1}\nrequires:\n  skills: [{2}]\n---\nDo it.\n"

_PASS = (sys.executable, "-c", "pass")
_SKILLYARD = (sys.executable, "-P", "-m", "skillyard")
_HOOK = (*_SKILLYARD, "hook", "claude-code", "--no-refresh", "--min-score", "0.01")


def run(options: Options) -> Iterator[Figure]:
    rounds = options.rounds or ROUNDS
    yield from figures_of_the_user(options, rounds)
    with written_out(_few(options), keep=options.keep) as library:
        yield from _figures(
            f"{SKILLS} skills of a trusted project", library.root, rounds, project=True
        )
    with written_out(records(options.shared, COUNT), keep=options.keep) as library:
        yield from _figures(f"{COUNT:,} skills of the user", library.root, rounds)
        _add_requirement(library.root)
        yield from _figures(
            f"{COUNT:,} skills of the user, the best requires another", library.root, rounds
        )


def figures_of_the_user(options: Options, rounds: int) -> Iterator[Figure]:
    """Yield the figure for a few skills of the user."""
    require_corpus(options.shared)
    with written_out(_few(options), keep=options.keep) as library:
        yield from _figures(f"hook: {SKILLS} skills of the user", library.root, rounds)


def _few(options: Options) -> Iterator[dict[str, Any]]:
    return records(options.shared, SKILLS, COUNT // SKILLS)


def _add_requirement(root: Path) -> None:
    """Add the best skill for the prompt, and the one that it requires."""
    for name, text, needs in (
        ("contract-to-spreadsheet", PROMPT, "table-reader"),
        ("table-reader", "Reads what stands in a grid.", ""),
    ):
        (root / name).mkdir()
        (root / name / "SKILL.md").write_text(_SKILL.format(name, text, needs), encoding="utf-8")


def _figures(label: str, skills: Path, rounds: int, *, project: bool = False) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as place:
        environment = _environment(Path(place), skills, project=project)
        _prepare(environment, skills, project=project)
        payload = Path(place) / "payload.json"
        folder = str(skills) if project else place
        payload.write_text(json.dumps(_payload(folder)), encoding="utf-8")
        _check(payload, environment)
        contestants: dict[str, Callable[[], Sample]] = {
            "pass": lambda: _child(_PASS, payload, environment),
            "hook": lambda: _child(_HOOK, payload, environment),
        }
        alternate(contestants, 2)  # fills the bytecode folder and the page cache
        samples = alternate(contestants, rounds)
    ours = ("skillyard hook claude-code", samples["hook"])
    yield against(label, ours, ("python -c pass", samples["pass"]), LIMIT)


def _environment(place: Path, skills: Path, *, project: bool) -> dict[str, str]:
    """Return the environment of a user whose home and caches are in ``place``."""
    environment = installed_environment(place / "package")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "SKILLYARD_CONFIG", "XDG_STATE_HOME"):
        environment.pop(name, None)
    (place / ".claude").mkdir()
    if not project:
        (place / ".claude" / "skills").symlink_to(skills)
    environment |= {
        "HOME": str(place),
        "SKILLYARD_CACHE": str(place / "cache"),
        "SKILLYARD_STATE": str(place / "state"),
    }
    return environment


def _prepare(environment: Mapping[str, str], skills: Path, *, project: bool) -> None:
    command = ("trust", str(skills)) if project else ("hook", "install", "claude-code")
    subprocess.run([*_SKILLYARD, *command], env=environment, check=True, capture_output=True)


def _payload(folder: str) -> dict[str, str]:
    return {
        "session_id": "00000000-0000-4000-8000-000000000000",
        "transcript_path": f"{folder}/session.jsonl",
        "cwd": folder,
        "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit",
        "prompt": PROMPT,
    }


def _check(payload: Path, environment: Mapping[str, str]) -> None:
    """Stop here when the hook chooses nothing: its speed would mean nothing."""
    with payload.open("rb") as stdin:
        process = subprocess.run(
            _HOOK, env=environment, stdin=stdin, capture_output=True, check=False
        )
    if b"additionalContext" not in process.stdout:
        raise Skipped(
            f"the hook chose nothing (exit {process.returncode}): {process.stderr[-300:]!r}"
        )


def _child(command: Sequence[str], payload: Path, environment: Mapping[str, str]) -> Sample:
    """Run a command with the payload on its standard input; return what it took by itself."""
    with payload.open("rb") as stdin:
        start = time.perf_counter()
        child = subprocess.Popen(
            command,
            env=environment,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}")
    return Sample(usage.ru_utime + usage.ru_stime, wall)
