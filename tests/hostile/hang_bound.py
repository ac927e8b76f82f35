"""What the tests share: reading a root under a hang bound, and paths as a person compares them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import skillyard as sy
from skillyard import Diagnostic, SkillError
from skillyard.base.invisible import clean
from tests.hostile.watchdog import hang_bound

__all__ = ["assert_helpful", "below", "escaped", "load", "mentions", "names_file", "unprivileged"]

_NOBODY = 65_534


def load(root: Path) -> Any:
    """Return the catalog of one root; fails when that takes for ever."""
    with hang_bound():
        return sy.load_catalog(root)


def assert_helpful(error: SkillError) -> None:
    """Fail unless the error says what is wrong, by a stable code, and what to do about it."""
    assert error.message, repr(error)
    assert error.code, repr(error)
    assert error.hint, repr(error)


def below(path: str, root: Path) -> str:
    """Return a skill's or diagnostic's path relative to the root, with ``/``."""
    if os.path.isabs(path):
        path = os.path.relpath(path, root)
    return path.replace(os.sep, "/")


def escaped(path: str) -> str:
    """Return a path as a diagnostic may show it: nothing raw that would break a line."""
    text = clean(path.encode("utf-8", "backslashreplace").decode("utf-8"))
    return text.replace("\n", "\\n").replace("\t", "\\t")


def names_file(diagnostic: Diagnostic, target: str, root: Path) -> bool:
    """True when the diagnostic's path is the target."""
    return below(diagnostic.path, root) in (target, escaped(target))


def mentions(diagnostic: Diagnostic, part: str, root: Path) -> bool:
    """True when the diagnostic's path is ``part``, lies below it, or is the folder of it."""
    path = below(diagnostic.path, root)
    return any(path == form or path.startswith(form + "/") for form in (part, escaped(part)))


@contextmanager
def unprivileged() -> Iterator[None]:
    """Run the block as ``nobody`` where the tests run with all rights, else as they are."""
    if os.name != "posix" or os.geteuid() != 0:
        yield
        return
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
