"""The base of everything that is closed at the end of a ``with`` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closeable(ABC):
    """A context manager whose exit calls ``close``."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Release what is held; a second time does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
