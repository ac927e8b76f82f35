"""Faults that are pending for requests, in order: what both queues of faults have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

from skillyard.base.errors import InvalidInput

__all__ = ["PendingFaults"]

Fault = TypeVar("Fault")
Key = TypeVar("Key")


@dataclass
class _Pending(Generic[Fault, Key]):
    applies_to: Callable[[Key], bool]
    fault: Fault
    left: int | None
    """Requests that the fault still applies to; None: all."""


class PendingFaults(Generic[Fault, Key]):
    """Faults in the order in which they were added. Thread-safe.

    ``Key`` is what a request is selected by.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._pending: list[_Pending[Fault, Key]] = []

    def __len__(self) -> int:
        with self._lock:
            return len(self._pending)

    def append(self, applies_to: Callable[[Key], bool], fault: Fault, times: int | None) -> None:
        """Add a fault for the next ``times`` matching requests, or with None for all.

        Raises InvalidInput for ``times`` below 1.
        """
        if times is not None and times < 1:
            raise InvalidInput(f"times must be 1 or more, or None for always, not {times}")
        with self._lock:
            self._pending.append(_Pending(applies_to, fault, times))

    def take(self, key: Key) -> Fault | None:
        """Return the first fault that applies to a request, and count it."""
        with self._lock:
            for place, pending in enumerate(self._pending):
                if pending.applies_to(key):
                    if pending.left is not None:
                        pending.left -= 1
                        if not pending.left:
                            del self._pending[place]
                    return pending.fault
        return None

    def clear(self) -> None:
        """Remove every fault."""
        with self._lock:
            self._pending.clear()
