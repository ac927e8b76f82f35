"""One run at a time writes to a folder of skills or to a lock file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from skillyard.base.io.locks import file_lock
from skillyard.base.io.sha256 import sha256
from skillyard.base.io.user_folders import cache_folder


@contextmanager
def alone(*paths: str) -> Iterator[None]:
    """Lock folders or files against other runs of this user, in an order that cannot deadlock.

    A lock is a file in the user's cache, not in the folder, which other programs list. When it
    cannot be created or locked (some network file systems lack locks), the work continues without
    it. The same path must not be locked again inside.
    """
    folder = os.path.join(cache_folder(), "locks")
    with ExitStack() as held:
        for name in sorted(set(map(_lock_name, paths))):
            with suppress(OSError):
                os.makedirs(folder, mode=0o700, exist_ok=True)
                held.enter_context(file_lock(os.path.join(folder, name), timeout_s=None))
        yield


def _lock_name(path: str) -> str:
    real = os.path.normcase(os.path.realpath(path))
    return f"{sha256(os.fsencode(real)).hex()[:24]}.lock"
