"""The wire between one node and the database, which can be cut without a word and healed.

A proxy stands between, and stops passing anything on.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

__all__ = ["Proxies", "proxies"]


class _Wire:
    """One port in front of another."""

    def __init__(self, target: int, through: threading.Event) -> None:
        self._target = target
        self._through = through
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _join(self, client: socket.socket) -> None:
        self._through.wait()
        try:
            server = socket.create_connection(("127.0.0.1", self._target), timeout=5)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        self._ends += [client, server]
        for one, other in ((client, server), (server, client)):
            threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65_536):
                self._through.wait()
                other.sendall(data)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Take no more connections and end those that there are."""
        for end in (self._listening, *self._ends):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class Proxies:
    """A link of one wire for each server."""

    def __init__(self, targets: Sequence[int]) -> None:
        self._through = threading.Event()
        self._through.set()
        self._wires = [_Wire(target, self._through) for target in targets]

    @property
    def ports(self) -> list[int]:
        """By which the node finds the servers."""
        return [wire.port for wire in self._wires]

    def cut(self) -> None:
        """Let nothing through any more, and tell nobody."""
        self._through.clear()

    def heal(self) -> None:
        """Let everything through again."""
        self._through.set()

    def close(self) -> None:
        """End every wire."""
        self._through.set()
        for wire in self._wires:
            wire.close()


@contextmanager
def proxies(targets: Sequence[int]) -> Iterator[Proxies]:
    """Give a wire to each of these ports."""
    made = Proxies(targets)
    try:
        yield made
    finally:
        made.close()
