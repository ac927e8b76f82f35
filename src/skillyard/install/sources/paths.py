"""Filter the file paths of remotes: only paths inside a skill's folder."""

from __future__ import annotations

from collections.abc import Iterable

from skillyard.install.copies.file_paths import FilePaths, PathRefused, checked_path, shown_path


def is_inside(path: str) -> bool:
    """True for a plain relative path of a file that means the same on every system."""
    try:
        return checked_path(path) == path
    except PathRefused:
        return False


def checked_files(contents: Iterable[tuple[str, bytes]]) -> tuple[dict[str, bytes], list[str]]:
    """Return (files by path, the left-out ones with reasons)."""
    files: dict[str, bytes] = {}
    skipped: list[str] = []
    taken = FilePaths()
    for path, data in contents:
        try:
            checked = checked_path(path)
            taken.add_file(checked)
        except PathRefused as error:
            skipped.append(f"{shown_path(path)}: {error.reason}")
        else:
            files[checked] = data
    return files, skipped
