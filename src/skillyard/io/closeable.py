"""The base of everything that is closed at the end of a ``with`` block."""

from __future__ import annotations

from typing import Self

__all__ = ["Closeable"]


class Closeable:
    """A context manager whose exit calls ``close``."""

    __slots__ = ()

    def close(self) -> None:
        """Release what is held; a second time does nothing."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
