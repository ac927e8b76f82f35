"""A catalog as a source: what is found is what lies there, and nothing beside it is ever read."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import skillyard as sy
from skillyard.errors import SourceFailed
from skillyard.files import DEFAULT_LIMITS
from skillyard.install.sources.local import LocalSource
from skillyard.install.sources.protocol import Hit, Package
from tests.hostile.watchdog import hang_bound
from tests.install.sources.clients import skill
from tests.parity.trees import write_tree

LIBRARY: Mapping[str, str | bytes] = {
    "pdf/SKILL.md": skill("pdf", "Fill in PDF forms."),
    "pdf/references/forms.md": "Forms.\n",
    "pdf/scripts/fill.py": "print()\n",
    "pdf/assets/logo.bin": b"\x00\xff",
    "docx/SKILL.md": skill("docx", "Write Word documents."),
}
SECRET = b"pearl-otter-secret"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "skills", LIBRARY)


def source_of(root: Path) -> LocalSource:
    return LocalSource(sy.load_catalog(root))


def found(source: LocalSource, query: str, limit: int = 10) -> list[Hit]:
    return asyncio.run(source.search(query, limit))


def fetched(source: LocalSource, hit: Hit, **how: bool) -> Package:
    with hang_bound():
        return asyncio.run(source.fetch(hit, **how))


def refusal(source: LocalSource, hit: Hit, **how: bool) -> SourceFailed:
    with pytest.raises(SourceFailed) as caught:
        fetched(source, hit, **how)
    return caught.value


def the_pdf(source: LocalSource) -> Hit:
    return found(source, "pdf forms")[0]


def test_a_hit_says_what_the_skill_says(root: Path) -> None:
    hit = the_pdf(source_of(root))
    assert (hit.source, hit.id, hit.name, hit.found_by) == ("local", "pdf", "pdf", "local")
    assert hit.description == "Fill in PDF forms."
    assert hit.skill is not None
    assert str(hit.skill.body).startswith("# pdf")


def test_a_hit_without_its_skill_is_found_by_slug_or_name(tmp_path: Path) -> None:
    write_tree(tmp_path, {"folder/SKILL.md": skill("Written Name", "Writes names.")})
    source = source_of(tmp_path)
    for name in ("folder", "Written Name"):
        assert "SKILL.md" in fetched(source, Hit("local", name, "local")).files


def test_a_document_without_a_folder_has_no_neighbours(tmp_path: Path) -> None:
    text = skill("notes", "Takes notes.")
    write_tree(tmp_path, {".skills/notes.md": text, ".skills/other.md": skill("other")})
    source = source_of(tmp_path)
    hit = found(source, "takes notes")[0]
    for how in ({}, {"references": True}, {"whole": True}):
        assert fetched(source, hit, **how).files == {"SKILL.md": text.encode()}


# --- what becomes of files after the catalog was made ---


def _removed(place: Path, secret: Path) -> None:
    place.unlink()


def _linked_out(place: Path, secret: Path) -> None:
    place.unlink()
    place.symlink_to(secret)


def _pipe(place: Path, secret: Path) -> None:
    place.unlink()
    os.mkfifo(place)


def _folder(place: Path, secret: Path) -> None:
    place.unlink()
    place.mkdir()


def _huge(place: Path, secret: Path) -> None:
    with open(place, "wb") as file:
        file.truncate(DEFAULT_LIMITS.resource_bytes + 1)


Change = Callable[[Path, Path], None]
CHANGES: Mapping[str, tuple[Change, str]] = {
    "removed": (_removed, "not_found"),
    "a link to a secret": (_linked_out, "refused"),
    "a pipe": (_pipe, "refused"),
    "a folder": (_folder, "refused"),
    "too large": (_huge, "refused"),
}


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "outside" / "secret.md"
    path.parent.mkdir()
    path.write_bytes(SECRET)
    return path


@pytest.mark.parametrize("how", [{}, {"references": True}, {"whole": True}], ids=str)
@pytest.mark.parametrize("change", CHANGES)
def test_a_skill_file_that_became_something_else_is_refused_by_name(
    root: Path, secret: Path, change: str, how: dict[str, bool]
) -> None:
    source = source_of(root)
    hit = the_pdf(source)
    make, code = CHANGES[change]
    make(root / "pdf" / "SKILL.md", secret)
    error = refusal(source, hit, **how)
    assert error.code == code
    assert str(root / "pdf" / "SKILL.md") in str(error)
    assert SECRET.decode() not in str(error)
