"""Reading and writing whole files, with errors that name the file and say what to do."""

from __future__ import annotations

import os
from collections.abc import Callable

from skillyard.base.errors import SkillIoError
from skillyard.base.io.atomic_write import atomic_write
from skillyard.base.io.files import read_regular

FOLDER_HINT = "check the folder and its space; --output-dir names another one"


def read_bounded(path: str, max_bytes: int, what: str, *, hint: str) -> bytes:
    """Return the bytes of a regular file. Raises SkillIoError, which calls it ``what``."""
    try:
        return read_regular(path, max_bytes, follow=True)[0]
    except OSError as error:
        message = f"cannot read the {what}: {error.strerror}"
        raise SkillIoError(message, path=path, hint=hint) from None


def write_file(
    path: str,
    text: str,
    what: str,
    *,
    hint: str = FOLDER_HINT,
    write: Callable[[str, bytes], None] = atomic_write,
) -> None:
    """Write a file, and the folders above it. Half of a surrogate pair is written as its escape.

    Raises SkillIoError, which calls the file ``what``.
    """
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        write(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        message = f"cannot write the {what}: {error.strerror}"
        raise SkillIoError(message, path=path, hint=hint) from None
