"""Paths as text: compared as this system compares them, and written with ``/``."""

from __future__ import annotations

import os
from collections.abc import Iterator

_MAX_LEVELS = 64


def slashes(path: str) -> str:
    """Return a path with ``/`` and without one at its end, unless it is the root of a drive."""
    path = path.replace(os.sep, "/")
    short = path.rstrip("/")
    return f"{short}/" if path and os.path.splitdrive(short)[1] == "" else short


def same_path(one: str, other: str) -> bool:
    """Return True where two paths are written alike on this system: Windows ignores case."""
    return os.path.normcase(one) == os.path.normcase(other)


def below(path: str, folder: str) -> str | None:
    """Return the part of a path below a folder, with ``/``; None where it does not lie there.

    Only the texts are compared: resolve links first where they matter.
    """
    start = f"{os.path.normcase(folder).rstrip(os.sep)}{os.sep}"
    if not os.path.normcase(path).startswith(start):
        return None
    return path[len(start) :].replace(os.sep, "/")


def ancestors(folder: str) -> Iterator[str]:
    """Yield a folder and the folders above it, up to the root; at most 64."""
    for _ in range(_MAX_LEVELS):
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def is_below(path: str, folder: str) -> bool:
    """Return True where a path lies below a folder, as :func:`below` compares them."""
    return below(path, folder) is not None


def file_uri(path: str) -> str:
    """Return an absolute path as a ``file:`` URI, a relative one as a URI reference."""
    from urllib.parse import quote

    drive, rest = os.path.splitdrive(path.replace(os.sep, "/"))
    text = quote(rest.encode("utf-8", "surrogatepass"), safe="/~")
    if drive.startswith("//"):  # a share: its server is the URI's host
        return f"file:{quote(drive, safe='/')}{text}"
    if drive:
        return f"file:///{drive}{text}"
    return f"file://{text}" if text.startswith("/") else text
