"""Folders and files opened without following links, by descriptor and, as on Windows, by path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillyard.base.io import files, folders
from skillyard.base.io.files import open_to_read
from skillyard.base.io.folders import open_folder, open_real_file, open_real_folder


@pytest.fixture(params=["descriptor", "path"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "path":
        monkeypatch.setattr(folders, "_BY_DESCRIPTOR", False)
        monkeypatch.setattr(files, "_NO_LINK", 0)
    root = Path(os.path.realpath(tmp_path))
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "file").write_bytes(b"1")
    (root / "other").mkdir()
    (root / "other" / "file").write_bytes(b"2")
    return root


def swap(root: Path) -> None:
    """Put a link to another folder in the place of ``a/b``."""
    (root / "a" / "b").rename(root / "moved")
    (root / "a" / "b").symlink_to(root / "other", target_is_directory=True)


def read(descriptor: int) -> bytes:
    with open(descriptor, "rb") as file:
        return file.read()


def test_what_is_in_a_folder_is_listed_and_read(root: Path) -> None:
    with open_folder(str(root / "a")) as folder, folder.folder("b") as below:
        assert [entry.name for entry in folder.entries()] == ["b"]
        assert [entry.name for entry in below.entries()] == ["file"]
        assert read(below.file("file")) == b"1"
    assert read(open_real_file(str(root / "a" / "b" / "file"))) == b"1"
    with open_real_folder(str(root / "a" / "b")) as folder:
        assert len(folder.entries(most=1)) == 1


def test_no_link_is_followed_at_the_end_of_a_path(root: Path) -> None:
    (root / "link").symlink_to("a", target_is_directory=True)
    (root / "a" / "b" / "linked").symlink_to("file")
    with pytest.raises(OSError):  # noqa: PT011 - ELOOP or ENOTDIR, whichever the system says
        open_folder(str(root / "link"))
    with open_folder(str(root / "link"), follow=True) as folder:
        assert [entry.name for entry in folder.entries()] == ["b"]
    with open_folder(str(root / "a" / "b")) as folder, pytest.raises(OSError, match="symbolic"):
        folder.file("linked")
    with pytest.raises(OSError, match="symbolic"):
        open_to_read(str(root / "a" / "b" / "linked"))
    assert read(open_to_read(str(root / "a" / "b" / "linked"), follow=True)) == b"1"


def test_no_link_is_followed_within_a_real_path(root: Path) -> None:
    swap(root)
    for opening in (open_real_file, open_real_folder):
        with pytest.raises(OSError):  # noqa: PT011 - as above
            opening(str(root / "a" / "b" / "file"))


def test_a_folder_that_is_exchanged_while_it_is_open_is_not_followed(root: Path) -> None:
    """By descriptor it stays the folder that was opened; by path the exchange is an error."""
    with open_folder(str(root / "a" / "b")) as folder:
        swap(root)
        if folders._BY_DESCRIPTOR:
            assert read(folder.file("file")) == b"1"
        else:
            for look in (folder.entries, lambda: folder.file("file")):
                with pytest.raises(OSError, match="replaced"):
                    look()


def test_a_file_is_no_folder(root: Path) -> None:
    with pytest.raises(NotADirectoryError):
        open_folder(str(root / "other" / "file"))


def test_a_file_that_is_exchanged_while_it_is_opened_is_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def exchanged(path: str, *arguments: int, **more: int | None) -> int:
        os.replace(root / "other" / "file", root / "a" / "b" / "file")
        return real(path, *arguments)

    monkeypatch.setattr(files, "_NO_LINK", 0)
    monkeypatch.setattr(os, "open", exchanged)
    with pytest.raises(OSError, match="replaced"):
        open_to_read(str(root / "a" / "b" / "file"))
