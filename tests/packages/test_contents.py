"""What is built holds what git tracks, and is tagged for what it holds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from skillyard import __version__
from tests.requirements import requirement
from tests.shared_data import REPOSITORY

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (REPOSITORY / ".git").exists(), reason="only git knows what is tracked"),
]

PROGRAM = (
    "import sys; from setuptools import build_meta as b; print(getattr(b, sys.argv[1])('out'))"
)
BESIDE = [
    "pyproject.toml",
    "setup.py",
    "MANIFEST.in",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "NOTICE",
]
SOURCES = (".c", ".h")
TESTKIT = "testkit"
ENCODER = "encoder"
Build = Callable[..., Path]


def tracked(folder: str = ".") -> set[str]:
    """Return the paths of the tracked files of a folder that are there."""
    command = ["git", "ls-files", "-z", folder]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return {name for name in done.stdout.split("\0") if (REPOSITORY / name).is_file()}


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Run one hook of the build backend over a copy of the tracked files; return the file."""

    def run(hook: str, project: str = ".", **environment: str) -> Path:
        tree = tmp_path_factory.mktemp("tree")
        for name in [*sorted(tracked("src") | tracked(TESTKIT) | tracked(ENCODER)), *BESIDE]:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPOSITORY / name, tree / name)
        tree /= project
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, hook],
            cwd=tree, env={**os.environ, **environment},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise ChildProcessError(done.stderr.strip().splitlines()[-1])
        return tree / "out" / done.stdout.split()[-1]

    return run


@pytest.fixture(scope="session")
def pure(build: Build) -> Path:
    """A wheel that was built with a compiler that fails."""
    return build("build_wheel", CC="false")


def names(wheel: Path) -> set[str]:
    """Return the files of a wheel, those that describe it left out."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


@requirement("packages:tracked-files")
def test_the_wheel_holds_every_tracked_file_of_the_package_but_the_c_sources(pure: Path) -> None:
    files = {name.removeprefix("src/") for name in tracked("src")}
    assert names(pure) == {name for name in files if not name.endswith(SOURCES)}


@requirement("packages:tracked-files")
def test_the_source_distribution_holds_every_tracked_file_below_src(build: Build) -> None:
    with tarfile.open(build("build_sdist")) as archive:
        members = {name.partition("/")[2] for name in archive.getnames()}
    assert tracked("src") - members == set()
    assert {name for name in members if name.startswith("tests")} == set()


def test_the_testkit_is_a_wheel_of_its_own_for_this_very_version(build: Build) -> None:
    wheel = build("build_wheel", TESTKIT)
    files = tracked(f"{TESTKIT}/src")
    assert names(wheel) == {name.removeprefix(f"{TESTKIT}/src/") for name in files}
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        lines = archive.read(name).decode().splitlines()
    assert f"Version: {__version__}" in lines
    assert [line for line in lines if line.startswith("Requires-Dist:")] == [
        f"Requires-Dist: skillyard=={__version__}"
    ]


def test_the_encoder_is_a_wheel_of_its_own_that_needs_nothing_of_ours(build: Build) -> None:
    wheel = build("build_wheel", ENCODER)
    files = tracked(f"{ENCODER}/src")
    assert names(wheel) == {name.removeprefix(f"{ENCODER}/src/") for name in files}
    with zipfile.ZipFile(wheel) as archive:
        texts = {
            name.rpartition(".dist-info/")[2]: archive.read(name).decode()
            for name in archive.namelist()
            if ".dist-info/" in name
        }
    lines = texts["METADATA"].splitlines()
    assert f"Version: {__version__}" in lines
    needs = {line.partition(": ")[2].partition(">")[0] for line in lines if "Requires-Dist" in line}
    assert needs == {"numpy", "onnxruntime", "sentencepiece", "tokenizers"}
    assert "encoder = skillyard_encoder:Encoder" in texts["entry_points.txt"]
    assert "all-MiniLM-L6-v2" in texts["licenses/NOTICE"]


def test_the_extra_needs_the_encoder_of_this_very_version() -> None:
    text = (REPOSITORY / "pyproject.toml").read_text("utf-8")
    assert f'encoder = ["skillyard-encoder=={__version__}"]' in text


@requirement("packages:tag")
def test_a_wheel_without_the_kernel_is_for_every_system(pure: Path) -> None:
    assert pure.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(pure) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/WHEEL")]
        text = archive.read(name).decode()
    assert "Root-Is-Purelib: true" in text
    assert "Tag: py3-none-any" in text


@requirement("packages:tag")
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_wheel_with_the_kernel_is_for_the_stable_abi(build: Build) -> None:
    wheel = build("build_wheel", SKILLYARD_BUILD_KERNEL="required")
    assert "-cp311-abi3-" in wheel.name
    (library,) = [name for name in names(wheel) if "_kernel" in name]
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(library)
    assert str(wheel.parents[1]).encode() not in content  # nothing of the machine that built it


def test_a_kernel_that_is_required_and_does_not_compile_fails_the_build(build: Build) -> None:
    with pytest.raises(ChildProcessError, match=r"'false'.* returned non-zero exit status 1"):
        build("build_wheel", SKILLYARD_BUILD_KERNEL="required", CC="false")
    with pytest.raises(ChildProcessError, match="use one of auto, required, off"):
        build("build_wheel", SKILLYARD_BUILD_KERNEL="no")
