"""The wire between one node and the database, which can be cut without a word and healed.

Where the kernel lets us, the node lives in a network namespace and the far end of its cable is
taken down: packets vanish. Elsewhere a proxy stands between, and stops passing anything on.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol

__all__ = ["Link", "Proxies", "cable", "namespaces_work", "proxies"]

NETS = tuple(f"198.{18 + number // 128}.{number % 128 * 2}" for number in range(256))
"""The /23 networks of 198.18.0.0/15, by their first half: RFC 2544's addresses for tests."""


class Link(Protocol):
    """One wire."""

    @property
    def kind(self) -> str:
        """How it is cut, for people."""
        ...

    @property
    def database(self) -> tuple[str, Sequence[int]]:
        """Host and ports by which the node finds the servers; no ports: their own."""
        ...

    @property
    def host(self) -> str:
        """The address on which the node listens for clients; it stays when the link is cut."""
        ...

    @property
    def before(self) -> Sequence[str]:
        """What stands before the node's command."""
        ...

    def cut(self) -> None:
        """Let nothing through any more, and tell nobody."""
        ...

    def heal(self) -> None:
        """Let everything through again."""
        ...


def namespaces_work() -> bool:
    """True where we may make network namespaces and cables between them."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    name = f"sky{os.getpid()}t"
    commands = (f"netns add {name}", f"link add {name} type veth peer name e0 netns {name}")
    try:
        return all(_ip(command, check=False) for command in commands)
    finally:
        _ip(f"netns del {name}", check=False)


class Cable:
    """A namespace with two cables: one to the database, one to the clients.

    Args:
        name: Of the namespace; the cables' names begin with it.
        net: One of `NETS`, which nobody else uses. Its first half is for the database's cable,
            its second for the clients'.
    """

    kind = "a network namespace whose cable is cut"

    def __init__(self, name: str, net: str) -> None:
        self._name = name
        prefix, _, half = net.rpartition(".")
        self._halves = f"{prefix}.{half}", f"{prefix}.{int(half) + 1}"

    @property
    def database(self) -> tuple[str, Sequence[int]]:
        return f"{self._halves[0]}.1", ()

    @property
    def host(self) -> str:
        return f"{self._halves[1]}.2"

    @property
    def before(self) -> Sequence[str]:
        # ip(8) becomes the command that it runs, so the process is the node's own.
        return "ip", "netns", "exec", self._name

    def cut(self) -> None:
        _ip(f"link set {self._name}d down")

    def heal(self) -> None:
        _ip(f"link set {self._name}d up")

    def lay(self) -> None:
        """Make the namespace and its cables."""
        name = self._name
        _ip(f"netns add {name}")
        _ip(f"-n {name} link set lo up")
        for end, half in zip("dc", self._halves, strict=True):
            _ip(f"link add {name}{end} type veth peer name {end}0 netns {name}")
            _ip(f"addr add {half}.1/24 dev {name}{end}")
            _ip(f"link set {name}{end} up")
            _ip(f"-n {name} addr add {half}.2/24 dev {end}0")
            _ip(f"-n {name} link set {end}0 up")

    def take_up(self) -> None:
        """Remove all of it."""
        _take_up(self._name)


@contextmanager
def cable() -> Iterator[Cable]:
    """Give a namespace for one node; the database has to listen on its address too.

    Several runs may do this on one machine at once, and a run that was killed may have left its
    cables: what belongs to no living process is removed first.
    """
    _sweep()
    with _net() as net:
        made = Cable(f"{PREFIX}{os.getpid()}", net)
        try:
            made.lay()
            yield made
        finally:
            made.take_up()


PREFIX = "sky"
"""Of a namespace's name; the number of the process that made it follows. Names of cables have at
most 15 characters: these, seven digits, one for the end."""


@contextmanager
def _net() -> Iterator[str]:
    """Give a network that no other run has.

    The claim is a route, which the kernel gives to one only. It also says that where a cable is
    down its addresses are nowhere, and not somewhere beyond this machine.
    """
    for net in NETS:
        if _ip(f"route add blackhole {net}.0/23", check=False):
            break
    else:
        raise AssertionError("every network for tests is taken: ip route show type blackhole")
    try:
        yield net
    finally:
        _ip(f"route del blackhole {net}.0/23", check=False)


def _sweep() -> None:
    """Remove the cables and claims of runs that ended without doing so."""
    listed = subprocess.run(
        ("ip", "-o", "-4", "addr", "show"), capture_output=True, text=True, check=False, timeout=20
    ).stdout
    for found in re.finditer(rf"\b{PREFIX}(\d+)d +inet ([\d.]+)\.1/24\b", listed):
        number, net = found.groups()
        if not os.path.exists(f"/proc/{number}"):
            _take_up(f"{PREFIX}{number}")
            _ip(f"route del blackhole {net}.0/23", check=False)


def _take_up(name: str) -> None:
    for end in "dc":
        _ip(f"link del {name}{end}", check=False)
    _ip(f"netns del {name}", check=False)


def _ip(command: str, *, check: bool = True) -> bool:
    done = subprocess.run(
        ("ip", *command.split()), capture_output=True, text=True, check=False, timeout=20
    )
    assert not check or done.returncode == 0, f"ip {command}: {done.stderr}"
    return done.returncode == 0


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

    kind = "a proxy that stops passing on"
    host = "127.0.0.1"
    before: Sequence[str] = ()

    def __init__(self, targets: Sequence[int]) -> None:
        self._through = threading.Event()
        self._through.set()
        self._wires = [_Wire(target, self._through) for target in targets]

    @property
    def database(self) -> tuple[str, Sequence[int]]:
        return "127.0.0.1", [wire.port for wire in self._wires]

    def cut(self) -> None:
        self._through.clear()

    def heal(self) -> None:
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
