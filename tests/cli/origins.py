"""A project that skills are added to, and where they come from."""

from __future__ import annotations

import asyncio
import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from skillyard import SearchService
from skillyard.install.copies.lockfile import LockedSkill, read_project_lock
from skillyard.install.origins.locked import locked_package
from skillyard.install.sources.protocol import Package
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import site as site
from tests.cli.remotes import text
from tests.install.git.home import git_home as git_home
from tests.install.git.home import server_of as server_of

__all__ = ["FILES", "PDF", "entries", "fetch", "library", "locked", "pack", "project"]

PDF = text("pdf", "Fill in PDF forms.")
FILES: dict[str, str | bytes] = {
    "skills/pdf/SKILL.md": PDF,
    "skills/pdf/scripts/fill.py": "print()",
    "skills/docx/SKILL.md": text("docx", "Write Word documents."),
}


@pytest.fixture
def project(git_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of a user with an empty home; the working folder."""
    monkeypatch.delenv("SKILLYARD_OFFLINE", raising=False)
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def entries(project: Path) -> dict[str, Any]:
    skills: dict[str, Any] = json.loads((project / "skills-lock.json").read_text())["skills"]
    return skills


def locked(project: Path, name: str = "pdf") -> LockedSkill:
    entry = read_project_lock(str(project / "skills-lock.json")).get(name)
    assert entry is not None
    return entry


def fetch(entry: LockedSkill, *, pinned: bool, folder: Path) -> Package:
    async def work() -> Package:
        async with SearchService() as search:
            return await locked_package(search, entry, pinned=pinned, folder=str(folder))

    return asyncio.run(work())


def pack(path: Path, files: dict[str, str | bytes]) -> None:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in files.items():
                archive.writestr(f"skills-main/{name}", data)
        return
    mode: Any = "w:gz" if path.suffix in (".gz", ".tgz") else "w"
    with tarfile.open(path, mode, format=tarfile.USTAR_FORMAT) as tar:
        for name, value in files.items():
            data = value.encode() if isinstance(value, str) else value
            entry = tarfile.TarInfo(f"skills-main/{name}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    for path, data in FILES.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data.encode() if isinstance(data, str) else data)
    return folder
