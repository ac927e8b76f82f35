"""Clients that ask nodes without end and note what each answer showed, to be checked later."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote_plus

from tests.store.cluster.journal import FAMILIES, MEMBERS, Family
from tests.store.cluster.nodes import TOKEN

__all__ = ["Lives", "Seen", "Target", "asking"]

ANSWER_S = 20.0
IDLE_S = 3.0
"""A connection that was idle for longer is not used again: the service closes it after five."""
KINDS = ("rank", "select", "search", "skill")


class Seen(NamedTuple):
    """One answer."""

    node: int
    life: int
    """Which process of the node answered: 1 for the first."""
    kind: str
    family: Family
    began: float
    ended: float
    """``time.monotonic()``."""
    status: int
    """0 where none came: the connection ended, or was refused."""
    generation: int = 0
    age: str = ""
    numbers: frozenset[int] = frozenset()
    """What the family's skills in the answer said."""
    names: frozenset[str] = frozenset()
    """Which of them it showed."""
    said: str = ""
    """The beginning of an answer that is not 200."""


class Target(NamedTuple):
    """A node as clients know it."""

    number: int
    host: str
    port: int


Lives = dict[int, int]
"""Which process of each node takes requests, 1 for the first; 0 while none does."""


class _Connection:
    """One kept connection."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._used = 0.0

    async def ask(self, request: bytes) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body. Raises OSError, EOFError, TimeoutError."""
        if time.monotonic() - self._used > IDLE_S:
            self.close()
        async with asyncio.timeout(ANSWER_S):
            if self._streams is None:
                self._streams = await asyncio.open_connection(self._target.host, self._target.port)
            reader, writer = self._streams
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in head[1:-2])
            }
            body = await reader.readexactly(int(headers.get("content-length", "0")))
        self._used = time.monotonic()
        if headers.get("connection", "").lower() == "close":
            self.close()
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        return int(head[0].split()[1]), headers, body

    def close(self) -> None:
        """End it."""
        if self._streams is not None:
            self._streams[1].transport.abort()
        self._streams = None


async def asking(
    target: Target, lives: Lives, think_s: float, until: float, rng: random.Random
) -> list[Seen]:
    """Ask one node until the time is up, with pauses of ``think_s`` seconds on average."""
    seen: list[Seen] = []
    connection, known = _Connection(target), 0
    while (pause := rng.expovariate(1 / think_s)) + time.monotonic() < until:
        await asyncio.sleep(pause)
        life = lives[target.number]
        if life != known:
            connection.close()  # as a balancer does that was told that a node is not ready
            known = life
        if not life:
            continue
        family, kind = rng.choice(FAMILIES), rng.choice(KINDS)
        found = await _asked(connection, target, life, kind, family)
        if not found.status:
            connection.close()
        seen.append(found)
    connection.close()
    return seen


async def _asked(
    connection: _Connection, target: Target, life: int, kind: str, family: Family
) -> Seen:
    """Ask once."""
    began = time.monotonic()
    member = int(began * 1000) % MEMBERS
    try:
        status, headers, body = await connection.ask(_request(target, kind, family, member))
    except (OSError, EOFError, TimeoutError) as error:
        said = f"{type(error).__name__}: {error}"[:200]
        return Seen(target.number, life, kind, family, began, time.monotonic(), 0, said=said)
    seen = Seen(target.number, life, kind, family, began, time.monotonic(), status)
    if status != 200:
        return seen._replace(said=body[:200].decode("utf-8", "replace"))
    numbers, names = _shown(kind, family, json.loads(body))
    return seen._replace(
        generation=int(headers["skillyard-generation"]),
        age=headers["skillyard-age"],
        numbers=frozenset(numbers),
        names=frozenset(names),
    )


def _request(target: Target, kind: str, family: Family, member: int) -> bytes:
    words = quote_plus(family.words)
    body = b""
    if kind == "rank":
        line = f"GET /rank?q={words}&limit=40"
    elif kind == "search":
        line = f"GET /search?q={words}&limit=20"
    elif kind == "skill":
        line = f"GET /skill/{family.name}-{member}"
    else:
        line, body = "POST /select", json.dumps({"text": family.words, "top_k": 4}).encode()
    head = [
        f"{line} HTTP/1.1",
        f"Host: {target.host}:{target.port}",
        f"Authorization: Bearer {TOKEN}",
        "Accept-Encoding: gzip",
    ]
    if body:
        head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*head, "", ""]).encode("ascii") + body


class _Ids(dict[str, int]):
    """The number that a family says, by the document id of a member that says it."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._next = 1

    def number(self, document_id: str) -> int:
        """Return it; publishers count upwards. Raises AssertionError for an unknown id."""
        while document_id not in self:
            assert self._next < 100_000, f"nobody ever published {document_id}"
            for member in range(MEMBERS + 1):
                self[self._family.skill(member, self._next).id] = self._next
            self._next += 1
        return self[document_id]


_IDS = {family.name: _Ids(family) for family in FAMILIES}


def _shown(kind: str, family: Family, shape: Mapping[str, Any]) -> tuple[set[int], set[str]]:
    """Return which numbers an answer shows of a family, and which of its members."""
    if kind == "skill":
        return _told(family, [shape])
    if kind == "search":
        return _told(family, shape["skills"])
    listed = shape["matches"] if kind == "rank" else shape["selected"]
    mine = [item for item in listed if item["name"].startswith(f"{family.name}-")]
    return {_IDS[family.name].number(item["id"]) for item in mine}, {i["name"] for i in mine}


def _told(family: Family, items: Sequence[Mapping[str, Any]]) -> tuple[set[int], set[str]]:
    mine = [item for item in items if item["name"].startswith(f"{family.name}-")]
    texts = [f"{item['description']} {item['content']}" for item in mine]
    return set().union(*map(family.numbers_in, texts)), {item["name"] for item in mine}
