"""The program as a process: exit codes, pipes that close, streams that cannot be written."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.making import library, write
from tests.kernel_needed import ABSENT, MAY_SKIP
from tests.shared_data import PACKAGES


def environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    return {**kept, "PYTHONPATH": str(PACKAGES), "PYTHONWARNINGS": "error", **more}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "skillyard", *arguments]


def call(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        encoding="utf-8",
        env=environment(**more),
        check=False,
        timeout=60,
    )


def test_the_module_runs_and_its_exit_code_is_the_answer(tmp_path: Path) -> None:
    root = str(library(tmp_path))
    found = call("select", "commit that broke the build", "--json", "--root", root)
    assert (found.returncode, found.stderr) == (0, "")
    assert json.loads(found.stdout)["selected"][0]["name"] == "git-bisect"
    assert call("select", "xylophone", "--root", root).returncode == 1
    assert call("rank").returncode == 2


def test_a_reader_that_goes_away_is_a_clean_end(tmp_path: Path) -> None:
    body = "line\n" * 100_000  # more than a pipe holds
    root = write(tmp_path, {"long/SKILL.md": f"---\nname: long\ndescription: D.\n---\n{body}"})
    process = subprocess.Popen(
        command("show", "long", "--root", str(root)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"long\n"
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), said) == (0, b"")


def test_a_reader_that_was_never_there_is_a_clean_end_too(tmp_path: Path) -> None:
    root = str(library(tmp_path))
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.run(
        command("list", "--root", root, "--quiet"),
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment(),
        check=False,
        timeout=60,
    )
    os.close(writing)
    assert (process.returncode, process.stderr) == (0, b"")


def _always_full() -> bool:
    """True where ``/dev/full`` is the device of that name."""
    return os.path.exists("/dev/full") and stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.skipif(not _always_full(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            command("list", "--root", str(library(tmp_path)), "--quiet"),
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=environment(),
            check=False,
            timeout=60,
        )
    assert process.returncode == 2
    assert len(process.stderr.splitlines()) == 1
    assert "space" in process.stderr


def test_an_output_encoding_without_the_characters_gets_escapes(tmp_path: Path) -> None:
    root = str(library(tmp_path))
    done = subprocess.run(
        command("rank", "清洗 commit", "--explain", "--root", root),
        capture_output=True,
        env=environment(PYTHONIOENCODING="ascii"),
        check=False,
        timeout=60,
    )
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert b"\\u2514" in done.stdout


UNWANTED = (
    *("asyncio", "difflib", "email", "importlib.metadata", "rich", "shutil", "subprocess"),
    *("tempfile", "unittest", "urllib.request"),
    *("skillyard.cli.blocks", "skillyard.cli.cards", "skillyard.cli.commands.completion"),
    *("skillyard.cli.plain", "skillyard.cli.views"),
    *(
        "skillyard.engine.operations.skill_details",
        "skillyard.engine.operations.skill_explanation",
        "skillyard.check.validation",
    ),
    *("skillyard.engine.ranking.relevance", "skillyard.engine.ranking.confidence"),
)


DEAR = (
    *("filelock", "logging", "pathlib", "unicodedata"),
    *("skillyard.engine.index.index_update", "skillyard.engine.index.index_writer"),
    *("skillyard.engine.ranking.hybrid.dense_index", "skillyard.engine.ranking.protocol"),
)
"""What writes an index, and what a choice from one that is there has no use for."""


@pytest.mark.skipif(MAY_SKIP, reason=f"{ABSENT}; the pure reader loads more")
def test_a_choice_from_an_index_that_was_made_before_loads_next_to_nothing(tmp_path: Path) -> None:
    given = ["select", "commit", "--json", "--root", str(library(tmp_path))]
    program = (
        "import time; now = time.time_ns; time.time_ns = lambda: now() + 10**10;"  # files are old
        "import sys; before = set(sys.modules);"
        f"sys.argv[1:] = {given!r};"
        "from skillyard.cli import main; main();"
        "print(*(set(sys.modules) - before), sep='\\n', file=sys.stderr)"
    )
    for _ in range(2):  # the first makes the index
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            encoding="utf-8",
            env={**environment(), "SKILLYARD_CACHE": str(tmp_path / "cache")},
            check=True,
            timeout=60,
        )
        loaded = set(done.stderr.split())
        assert [name for name in UNWANTED if name in loaded] == []
    assert "skillyard.engine.index._kernel" in loaded
    assert [name for name in DEAR if name in loaded] == []
