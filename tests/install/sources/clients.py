"""The real client against the stand-in: a clock to turn, a transport, and what a call came to."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

from skillyard.errors import SourceFailed
from skillyard.install.sources.repository import skill_folder, skill_folders
from skillyard.install.sources.responses import ResponseCache, json_of
from skillyard.install.sources.transport import HttpResponse, RemoteHost, Transport
from skillyard_testkit import FakeServers, Request, Response
from skillyard_testkit.faults import Fault, respond_with
from skillyard_testkit.site import Site

T = TypeVar("T")
GITHUB_TOKEN = "testkit-github-token"
SKILLS_SH_TOKEN = "testkit-skills-sh-token"
TREE = "/repos/demo/skills/git/trees/HEAD?recursive=1"
FILE = "/demo/skills/HEAD/a.md"
"""Two requests that the repository of :func:`with_files` answers."""
PATIENT_S = 20.0
"""Long enough that only a client that never gives up reaches it."""


class Clock:
    """Seconds since 1970 that pass when a test says so; for the client and the stand-in alike."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now

    def turn(self, seconds: float) -> None:
        self.now += seconds


def skill(name: str, description: str = "Does what it says.", body: str = "Step one.") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\n{body}\n"


class Network(NamedTuple):
    """The stand-in, one clock for both sides, and a folder in which answers are kept."""

    up: FakeServers
    clock: Clock
    folder: Path

    def cache(self) -> ResponseCache:
        return ResponseCache(str(self.folder))

    def transport(
        self,
        *,
        kept: bool = True,
        offline: bool = False,
        deadline_s: float = PATIENT_S,
        tokens: bool = False,
        more: Mapping[str, RemoteHost] | None = None,
    ) -> Transport:
        """Return a transport to the stand-in's servers except ``other``, which is the sink."""
        github = GITHUB_TOKEN if tokens else ""
        hosts = {
            "skills.sh": RemoteHost(self.up.skills_sh, token=SKILLS_SH_TOKEN if tokens else ""),
            "github-api": RemoteHost(self.up.github_api, token=github),
            "github-raw": RemoteHost(self.up.github_raw, token=github),
            f"site:{self.up.well_known}": RemoteHost(self.up.well_known),
            **(more or {}),
        }
        return Transport(
            hosts,
            self.cache() if kept else None,
            offline=offline,
            deadline_s=deadline_s,
            clock=self.clock,
        )

    def ask(self, use: Callable[[Transport], Awaitable[T]], **how: Any) -> T:
        """Return what ``use`` makes of a transport that lives for this one call."""

        async def asked() -> T:
            async with self.transport(**how) as transport:
                return await use(transport)

        return asyncio.run(asked())

    def get(
        self, host: str, path: str, *, how: Mapping[str, Any] | None = None, **get: Any
    ) -> HttpResponse:
        """Return one reply of a transport that lives for this one call."""
        return self.ask(lambda transport: transport.get(host, path, **get), **(how or {}))

    def failure(
        self, host: str, path: str, *, how: Mapping[str, Any] | None = None, **get: Any
    ) -> SourceFailed:
        """Return how a call failed; a call that does not fail fails the test."""
        with pytest.raises(SourceFailed) as caught:
            self.get(host, path, how=how, **get)
        return caught.value

    def answers(self, server: str, *answers: Response, pattern: str = "*") -> None:
        """Let a server say exactly these answers, one a request."""
        for answer in answers:
            self.up.faults.add(server, pattern, respond_with(answer))


def is_json(headers: Mapping[str, str], body: bytes) -> None:
    """The check of a caller that wants JSON."""
    json_of(headers, body, "the answer")


def many(faults: Iterable[Fault]) -> Fault:
    """A fault that is another one each time."""
    rest = iter(faults)

    def fault(site: Site, asked: Request) -> Response:
        return next(rest)(site, asked)

    return fault


class Dialled(list[Any]):
    """Every address to which a socket of this process was to be connected."""


def count_dialling(monkeypatch: pytest.MonkeyPatch) -> Dialled:
    """Record what sockets connect to, and let only loopback through: no packet leaves."""
    dialled = Dialled()
    connect = socket.socket.connect

    def recorded(self: socket.socket, address: Any) -> None:
        dialled.append(address)
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1"):
            raise ConnectionRefusedError("tests never leave this machine")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", recorded)
    return dialled


def resolve(monkeypatch: pytest.MonkeyPatch, *answers: Iterable[str]) -> list[str]:
    """Let names resolve to the addresses of the next answer, the last one for ever.

    Returns the names that were asked for. Literal addresses resolve to themselves.
    """
    asked: list[str] = []
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name is None or name.replace(".", "").isdigit() or ":" in name:
            return real(host, port, *rest, **more)
        number = min(len(asked), len(answers) - 1)
        asked.append(name)
        return [
            (
                socket.AF_INET6 if ":" in address else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (address, int(port or 0), 0, 0) if ":" in address else (address, int(port or 0)),
            )
            for address in answers[number]
        ]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


def unless(codes: Iterable[str], call: Callable[[], T]) -> T | None:
    """Return what a call gives, or None when it fails with one of these codes."""
    try:
        return call()
    except SourceFailed as error:
        if error.code not in codes:
            raise
        return None


def with_files(net: Network) -> Network:
    """Return the network, with a repository that has a few files."""
    net.up.add_repository("demo/skills", {"a.md": "first", "b.md": "b", "skills/x/SKILL.md": "# X"})
    return net


def sent(net: Network, server: str = "github_raw") -> list[Mapping[str, str]]:
    """Return the headers of every request to one server, names in lower case."""
    return [
        {name.lower(): value for name, value in request.headers.items()}
        for request in net.up.requests
        if request.server == server
    ]


def skill_path(
    paths: Iterable[str], repository: str, skill_id: str, registered: str | None = None
) -> str | None:
    """Return the folder of a skill among the files of a repository."""
    return skill_folder(skill_folders(paths), repository, skill_id, registered)
