"""How many of our files and functions one request passes, and how deep they are nested.

The figures only fall. The aim of a service is 40 files, 170 functions and 13 deep.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from skillyard.install.policy.library import open_catalog
from tests.parity.trees import write_tree
from tests.worked_examples.making import document

LIMITS = {"cli": (35, 190, 15), "http": (39, 160, 13), "mcp": (40, 168, 13)}
"""Files, functions, depth. Over HTTP, three files and seven functions write the log line of an
answer that the client already has: they are in a journey or not, as the threads happen to run."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 300 skills and their current index, in a cache of its own."""
    folder = tmp_path_factory.mktemp("journey")
    words = ("csv", "table", "image", "mail", "deploy", "chart")
    files = {
        f"skill-{n}/SKILL.md": document(
            f"skill-{n}", f"Repairs {words[n % 6]} files of kind {n}. Use when {words[n % 5]} fail."
        )
        for n in range(299)
    }
    files["pdf/SKILL.md"] = document("pdf-forms", "Fills in PDF forms. Use for any PDF form.")
    write_tree(folder / "skills", files)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SKILLYARD_CACHE", str(folder / "cache"))
        for module in ("catalog.entries", "index.library_spec"):  # as if the files were older
            patch.setattr(f"skillyard.engine.{module}.STABLE_AFTER_NS", -(10**15))
        open_catalog(folder / "skills")
    return folder


@pytest.mark.parametrize("surface", LIMITS)
def test_a_request_passes_few_files_and_functions(library: Path, surface: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.journey", surface, str(library / "skills")],
        env={
            **os.environ,
            "SKILLYARD_CACHE": str(library / "cache"),
            "SKILLYARD_STATE": str(library / "state"),  # no judgement of another test counts
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    figures = (report["files"], report["functions"], report["depth"])
    print(f"{surface}: {figures[0]} files, {figures[1]} functions, {figures[2]} deep")
    print(*report["deepest"], sep="\n")
    limits = LIMITS[surface]
    assert all(map(int.__le__, figures, limits)), "\n".join(report["names"])
