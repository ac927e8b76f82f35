"""Access to numpy and scipy, which the extra ``eval`` installs."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command

_NUMBERS_AT_ONCE = 4_000_000


def arrays() -> Any:
    """Return the module numpy. Raises InvalidInput where it is not installed."""
    return _module("numpy")


def special() -> Any:
    """Return the module scipy.special. Raises InvalidInput where it is not installed."""
    return _module("scipy.special")


def random_rows(
    make: Callable[[random.Random, int, int], Any], width: int, rows: int, seed: int
) -> Iterator[Any]:
    """Yield ``rows`` rows of random numbers from ``make(rng, width, rows)``, some at a time.

    Few numbers are kept in memory, for the next skill with as many values. The bits are Python's
    own Mersenne twister, whose stream is the same on every version.
    """
    if width * rows <= _NUMBERS_AT_ONCE:
        yield _few_rows(make, width, rows, seed)
        return
    rng = random.Random(seed)
    at_once = max(4, _NUMBERS_AT_ONCE // width // 4 * 4)
    while rows > 0:
        yield make(rng, width, min(rows, at_once))
        rows -= at_once


def random_places(seed: int | str, draws: int, count: int) -> Any:
    """Return ``draws`` positions from 0 to count - 1.

    A position is the high word of a 32-bit number times ``count``, so no position is likelier than
    another by more than count / 2**32. The bits are Python's own Mersenne twister, whose stream is
    the same on every version; numpy does not promise that of its generators.
    """
    np = arrays()
    bits = np.frombuffer(random.Random(seed).randbytes(4 * draws), dtype="<u4")
    return (bits.astype(np.uint64) * np.uint64(count) >> np.uint64(32)).astype(np.int64)


@lru_cache(maxsize=6)
def _few_rows(
    make: Callable[[random.Random, int, int], Any], width: int, rows: int, seed: int
) -> Any:
    return make(random.Random(seed), width, rows)


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
    except ValueError as error:  # of numpy.f2py, which scipy loads
        raise InvalidInput(
            f"{library} does not load ({error}): it reads the environment variable"
            " SOURCE_DATE_EPOCH, which must be a whole number of seconds; correct or unset it"
        ) from error
