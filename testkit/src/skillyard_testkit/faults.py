"""Ways in which a server fails, and the queue that says which request meets which of them.

A fault is a function of the site and the request that returns the answer, honest parts included:
``site.answer(asked)`` is what would have been said.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from hashlib import sha256
from threading import Lock
from zlib import crc32

from skillyard.errors import InvalidInput
from skillyard.standin.answers import Answer, Asked, text_answer
from skillyard.standin.budgets import Standing
from skillyard.standin.site import Site

__all__ = [
    "Fault",
    "Faults",
    "endless",
    "gzip_bomb",
    "hang",
    "html",
    "lfs_pointer",
    "rate_limited",
    "redirect",
    "rewritten",
    "said",
    "secondary_limited",
    "status",
    "truncated_json",
    "truncated_tree",
    "wrong_digest",
    "wrong_length",
]

Fault = Callable[[Site, Asked], Answer]


def status(code: int, message: str = "", *, retry_after: int | None = None) -> Fault:
    """An error status, in the shape of the server that it happens to."""

    def fault(site: Site, asked: Asked) -> Answer:
        answer = site.error(asked, code, message)
        return answer if retry_after is None else answer.with_headers(retry_after=str(retry_after))

    return fault


def said(answer: Answer) -> Fault:
    """Exactly this answer, whatever it is."""
    return lambda site, asked: answer


def redirect(url: str, code: int = 301) -> Fault:
    """A redirect to ``url``, on this host or another. Raises InvalidInput for another status."""
    if code not in (301, 302, 303, 307, 308):
        raise InvalidInput(f"{code} is no redirect: give 301, 302, 303, 307 or 308")
    return said(text_answer("", code, location=url))


def rate_limited(code: int = 403, wait_s: int = 60) -> Fault:
    """The primary limit, as if the budget were used up until ``wait_s`` from now."""

    def fault(site: Site, asked: Asked) -> Answer:
        standing = Standing(60, 60, site.clock() + wait_s, wait_s, False)
        answer = site.refused(asked, code, wait_s)
        return replace(answer, headers={**site.labels(standing), **answer.headers})

    return fault


def secondary_limited(code: int = 403, retry_after: int | None = 60) -> Fault:
    """The secondary limit, with or without ``Retry-After``."""
    return lambda site, asked: site.secondary(asked, code, retry_after)


def html(title: str = "Just a moment") -> Fault:
    """A web page with status 200 where data was expected."""
    page = f"<!DOCTYPE html><html><head><title>{title}</title></head><body></body></html>\n"
    return said(text_answer(page, kind="text/html; charset=utf-8"))


def hang(after: int | None = None) -> Fault:
    """Silence until the server closes: at once, or after so many bytes of the honest body."""
    if after is None:
        return said(Answer(0, then="hang"))
    return rewritten(
        lambda answer: replace(
            answer, body=answer.body[:after], length=len(answer.body), then="hang"
        )
    )


def rewritten(change: Callable[[Answer], Answer]) -> Fault:
    """The honest answer, changed; errors stay as they are.

    The entity tag is taken off, and ``If-None-Match`` is not looked at: what was changed is not
    what the tag names.
    """

    def fault(site: Site, asked: Asked) -> Answer:
        answer = site.answer(asked.unconditional())
        if answer.status != 200:
            return answer
        headers = {name: value for name, value in answer.headers.items() if name != "etag"}
        return change(replace(answer, headers=headers))

    return fault


def truncated_json() -> Fault:
    """The first half of the body, with a length that agrees: good HTTP, broken JSON."""
    return rewritten(lambda answer: replace(answer, body=answer.body[: len(answer.body) // 2]))


def truncated_tree(keep: int | None = None) -> Fault:
    """A tree of its first entries, half of them or ``keep``, that says it is truncated."""

    def cut(answer: Answer) -> Answer:
        document = answer.document()
        entries = document.get("tree") if isinstance(document, dict) else None
        if entries is None:  # another route that the pattern matches
            return answer
        document["tree"] = entries[: len(entries) // 2 if keep is None else keep]
        document["truncated"] = True
        return replace(answer, body=json.dumps(document).encode())

    return rewritten(cut)


def wrong_length(difference: int = 100) -> Fault:
    """A ``Content-Length`` that is larger, or smaller, than the body by ``difference``."""
    return rewritten(lambda answer: replace(answer, length=max(0, len(answer.body) + difference)))


def endless() -> Fault:
    """The honest body again and again, chunk after chunk, until the client has enough."""
    return rewritten(
        lambda answer: replace(answer, body=answer.body or b" " * 1024, then="endless")
    )


def lfs_pointer() -> Fault:
    """The pointer that Git LFS keeps in place of a large file."""

    def pointer(answer: Answer) -> Answer:
        text = (
            "version https://git-lfs.github.com/spec/v1\n"
            f"oid sha256:{sha256(answer.body).hexdigest()}\n"
            f"size {len(answer.body)}\n"
        )
        return replace(answer, body=text.encode())

    return rewritten(pointer)


_DIGEST = re.compile(rb'(sha256:|"hash":\s*")([0-9a-f]{64})')


def wrong_digest() -> Fault:
    """Bytes that are not what a digest says: an index with other digests, or another file."""

    def change(answer: Answer) -> Answer:
        if "json" not in answer.headers.get("content-type", ""):
            return replace(answer, body=answer.body + b"\nchanged on the way\n")
        other = sha256(answer.body).hexdigest().encode()
        return replace(answer, body=_DIGEST.sub(rb"\g<1>" + other, answer.body))

    return rewritten(change)


def gzip_bomb(size: int = 256 * 1024 * 1024) -> Fault:
    """A small body that unpacks to ``size`` bytes of spaces, rounded up to a megabyte."""

    def bomb(answer: Answer) -> Answer:
        packed = _packed_spaces(-(-size // _BLOCK))
        return replace(answer, body=packed).with_headers(content_encoding="gzip")

    return rewritten(bomb)


_BLOCK = 1024 * 1024


@cache
def _packed_spaces(blocks: int) -> bytes:
    """Return a gzip stream of so many megabytes; every block is packed alike, so one is."""
    spaces = b" " * _BLOCK
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = packer.compress(spaces) + packer.flush(zlib.Z_FULL_FLUSH)
    end = packer.flush()
    check = 0
    for _ in range(blocks):
        check = crc32(spaces, check)
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    return head + block * blocks + end + struct.pack("<II", check, blocks * _BLOCK & 0xFFFFFFFF)


@dataclass
class _Waiting:
    server: str
    pattern: str
    fault: Fault
    left: int | None


class Faults:
    """Faults that wait for requests: in the order in which they were added."""

    def __init__(self, servers: Mapping[str, object]) -> None:
        self._lock = Lock()
        self._servers = servers
        self._waiting: list[_Waiting] = []

    def add(self, server: str, pattern: str, fault: Fault, *, times: int | None = 1) -> None:
        """Let ``fault`` meet the next ``times`` requests, or with None all, whose path matches.

        ``server`` is a name, or ``*`` for all; ``pattern`` is a glob over the path as sent,
        without the query, in which ``*`` also matches ``/``. Raises InvalidInput for an unknown
        server and for ``times`` below 1.
        """
        if server != "*" and server not in self._servers:
            raise InvalidInput(f"no server {server!r}: give one of {', '.join(self._servers)}")
        if times is not None and times < 1:
            raise InvalidInput(f"times must be 1 or more, or None for always, not {times}")
        with self._lock:
            self._waiting.append(_Waiting(server, pattern, fault, times))

    def take(self, server: str, path: str) -> Fault | None:
        """Return the first fault that waits for such a request, and count it."""
        with self._lock:
            for place, waiting in enumerate(self._waiting):
                if waiting.server in ("*", server) and fnmatchcase(path, waiting.pattern):
                    if waiting.left is not None:
                        waiting.left -= 1
                        if not waiting.left:
                            del self._waiting[place]
                    return waiting.fault
        return None

    def clear(self) -> None:
        """Forget every fault that still waits."""
        with self._lock:
            self._waiting.clear()
