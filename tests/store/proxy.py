"""A wire between a client and a server that can be cut at a chosen word."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

__all__ = ["Wire"]


class Wire:
    """Forwards one port to another, until a word passes: then nobody hears anything more.

    ``before`` cuts before the word reaches the server; else the server hears it, answers, and
    only then the client is cut off.
    """

    def __init__(self, port: int, word: bytes, *, before: bool) -> None:
        self._target = port
        self._word = word
        self._before = before
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def close(self) -> None:
        """Take no more connections."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join(timeout=10)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._target))
            heard = threading.Event()
            for run, ends in (
                (self._to_server, (client, server)),
                (self._to_client, (server, client)),
            ):
                thread = threading.Thread(target=run, args=(*ends, heard), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _to_server(
        self, client: socket.socket, server: socket.socket, heard: threading.Event
    ) -> None:
        with client, server, suppress(OSError):
            while data := client.recv(65_536):
                if self._word in data:
                    heard.set()
                    if self._before:
                        break
                server.sendall(data)
            _hang_up(client, server) if not heard.is_set() or self._before else None

    def _to_client(
        self, server: socket.socket, client: socket.socket, heard: threading.Event
    ) -> None:
        with suppress(OSError):
            while data := server.recv(65_536):
                if heard.is_set():
                    break
                client.sendall(data)
        _hang_up(client, server)


def _hang_up(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
