"""The commands of the Containerfile that make the program, run without a container.

Every COPY and RUN of the first stage happens as it is written, below a temporary folder in the
place of the image's root. What the base images bring is not tested. It installs packages, so it
runs where that was asked for: ``make deploy-check``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.files import instructions
from tests.shared_data import REPOSITORY

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.environ.get("SKILLYARD_DEPLOY") != "1", reason="installs packages: make deploy-check"
    ),
]

IGNORED = shutil.ignore_patterns("__pycache__", "*.pyc", "*.so", "*.egg-info")
BROUGHT = ("httpx2", "mcp", "numpy", "psycopg", "rich", "uvicorn", "yaml")
"""What the commands and the service of the image load."""


def copied(rest: str, folder: Path) -> None:
    """Do what a COPY does."""
    *sources, target = rest.split()
    for source in sources:
        path = REPOSITORY / source
        if path.is_dir():
            shutil.copytree(path, folder / target, ignore=IGNORED)
        else:
            (folder / target).mkdir(exist_ok=True)
            shutil.copy(path, folder / target)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the first stage leaves."""
    made = tmp_path_factory.mktemp("image")
    folder = made
    environment = {"PATH": os.environ["PATH"], "HOME": str(made), "PIP_NO_INPUT": "1"}
    environment |= {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    for word, rest in instructions(0):
        if word == "WORKDIR":
            folder = made / rest.lstrip("/")
            folder.mkdir(parents=True)
        elif word == "COPY":
            copied(rest, folder)
        elif word == "RUN":
            script = rest.replace("/opt/", f"{made}/opt/")
            script = script.replace("python -m venv", f"{sys.executable} -m venv")
            done = subprocess.run(
                ["/bin/sh", "-euc", script],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=540,
                check=False,
            )
            assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]
        else:
            assert word in ("FROM", "ENV"), word
    return made


def said(root: Path, *command: str) -> str:
    """Run a program of the environment that was made, and return what it printed."""
    program, *rest = command
    done = subprocess.run(
        [str(root / "opt" / "skillyard" / "bin" / program), *rest],
        cwd=REPOSITORY / "examples",
        env={"PATH": "/usr/bin:/bin", "HOME": str(root), "SKILLYARD_CACHE": str(root / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_program_is_there_whole(root: Path) -> None:
    assert said(root, "skillyard", "--version").startswith("skillyard ")
    ranked = said(root, "skillyard", "rank", "clean a csv file", "--limit", "1", "--root", "skills")
    assert "csv-cleaning" in ranked
    shown = said(
        root,
        "python",
        "-c",
        "import skillyard.engine.index._kernel as kernel; print(kernel.__file__)",
    )
    assert shown.startswith(str(root))


def test_everything_that_the_service_needs_is_there_and_no_installer(root: Path) -> None:
    program = "import importlib.util as u, sys; print([n for n in sys.argv[1:] if u.find_spec(n)])"
    found = said(root, "python", "-I", "-c", program, *BROUGHT, "pip")
    assert found.strip() == str(list(BROUGHT))
