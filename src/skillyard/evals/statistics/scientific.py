"""Access to numpy and scipy, which the extra ``eval`` installs."""

from __future__ import annotations

import random
import sys
from importlib import import_module
from typing import Any

from skillyard.errors import InvalidInput
from skillyard.extras import install_command

__all__ = ["arrays", "resampled", "special"]


def arrays() -> Any:
    """Return the module numpy. Raises InvalidInput where it is not installed."""
    return _module("numpy")


def special() -> Any:
    """Return the module scipy.special. Raises InvalidInput where it is not installed."""
    return _module("scipy.special")


def resampled(count: int, draws: int, seed: int) -> Any:
    """Return ``draws`` rows of ``count`` positions drawn with replacement from 0..count-1.

    The bits are Python's own Mersenne twister, whose stream is the same on every version; numpy
    does not promise that of its generators. A position is the high word of a 32-bit number times
    ``count``, so no position is likelier than another by more than count / 2**32.
    """
    np = arrays()
    bits = np.frombuffer(random.Random(seed).randbytes(4 * draws * count), dtype="<u4")
    places = bits.astype(np.uint64) * np.uint64(count) >> np.uint64(32)
    return places.astype(np.int64).reshape(draws, count)


def _module(name: str) -> Any:
    library = name.partition(".")[0]
    loaded = sys.modules.get(name)
    if loaded is not None and sys.modules.get(library) is not None:
        return loaded  # import_module takes many times as long to fail
    try:
        return import_module(name)
    except ImportError as error:
        raise InvalidInput(
            f"these statistics need {library}; install it with: {install_command('eval')}"
        ) from error
