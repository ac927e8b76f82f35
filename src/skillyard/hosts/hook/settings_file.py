"""Reads and atomically replaces a settings file that other programs also write."""

from __future__ import annotations

import errno
import os
from typing import NamedTuple

from skillyard.base.errors import SkillIoError
from skillyard.base.io.atomic_write import atomic_write, remove_leftovers
from skillyard.base.io.files import read_regular

MAX_BYTES = 8 * 1024 * 1024


class SettingsRefused(SkillIoError):
    """A settings file is not usable and was not changed."""

    kind = "SettingsRefused"


class SettingsFile(NamedTuple):
    """The content of a settings file when it was read."""

    path: str
    """The real path. Links to the file stay in place."""
    text: str | None
    """None when the file does not exist."""
    status: os.stat_result | None


def read_settings(path: str, *, to_change: bool = True) -> SettingsFile:
    """Return a settings file. Raises SettingsRefused for what cannot be read.

    With ``to_change`` a read-only file is refused too.
    """
    real = os.path.realpath(path)
    try:
        data, status = read_regular(real, MAX_BYTES, follow=True)
    except FileNotFoundError:
        if os.path.islink(path):
            raise _refusal(path, "the link leads nowhere", "mend or remove the link") from None
        return SettingsFile(real, None, None)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise _refusal(path, "it is no regular file", "name another one with --file") from None
        if error.errno == errno.EFBIG:
            what = f"it has more than {MAX_BYTES:,} bytes"
            raise _refusal(path, what, "is it the right file?") from None
        raise _refusal(path, f"cannot read it: {error.strerror}", "check the path") from None
    if to_change and not status.st_mode & 0o222:
        raise _refusal(path, "it is read-only", "make it writable, then do this again")
    try:
        return SettingsFile(real, data.decode("utf-8"), status)
    except UnicodeDecodeError:
        raise _refusal(path, "it is not UTF-8", "save it as UTF-8") from None


def _refusal(path: str, what: str, hint: str) -> SettingsRefused:
    return SettingsRefused(what, path=path, hint=hint)


def replace(before: SettingsFile, text: str) -> None:
    """Replace the file that was read by one with ``text``, atomically. Owner and mode stay.

    Raises SettingsRefused when the file has changed since it was read or cannot be written; it
    stays as it was then.
    """
    try:
        os.makedirs(os.path.dirname(before.path), mode=0o700, exist_ok=True)
        remove_leftovers(before.path)
        atomic_write(
            before.path,
            text.encode("utf-8"),
            mode=0o600,
            check=lambda: _check_unchanged(before),
        )
    except OSError as error:
        what = f"cannot write it: {error.strerror}"
        raise _refusal(before.path, what, "check the folder and its space") from None


def delete(before: SettingsFile) -> None:
    """Delete the file. Raises SettingsRefused like :func:`replace`."""
    _check_unchanged(before)
    try:
        os.unlink(before.path)
    except OSError as error:
        what = f"cannot remove it: {error.strerror}"
        raise _refusal(before.path, what, "remove it by hand") from None


def _check_unchanged(before: SettingsFile) -> None:
    try:
        now: os.stat_result | None = os.stat(before.path)
    except FileNotFoundError:
        now = None
    if _stamp(now) != _stamp(before.status):
        raise _refusal(before.path, "it was changed meanwhile", "do this again")


def _stamp(status: os.stat_result | None) -> tuple[int, ...]:
    if status is None:
        return ()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
