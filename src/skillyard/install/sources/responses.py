"""Reads the bodies of remote responses within limits, and caches responses on disk.

Each response is one file, named by the digest of its key. It begins with the digest of the rest,
which is checked when it is read. Its modification time is when the remote last confirmed it. Any
number of processes may use the folder at once, and it can be deleted at any time.

hishel 2.0 supports httpx2 and bounds its storage, but it never serves a stale response when the
remote is down, does not verify stored bodies, and needs msgpack and anysqlite, so it is not used.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from skillyard.base.errors import SourceFailed
from skillyard.base.io.files import atomic_write, read_regular, sha256
from skillyard.base.shapes.service import CacheStats

MAX_BYTES = 256 * 1024 * 1024
"""Maximum total size of the files. Above it, the responses confirmed longest ago are removed."""
OLDEST_S = 30 * 24 * 3600.0
"""Seconds after which a response that was not confirmed again is ignored."""
SHARE_AFTER_EVICTION = 0.8
"""Share of the maximum size that remains after an eviction, so that the next one is not due at
once."""
SHARE_BETWEEN_LOOKS = 0.05
"""Share of the maximum size that a process writes before it looks again how large the cache is."""


class CachedResponse(NamedTuple):
    """One cached response."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name; only the headers that are used later."""
    body: bytes
    checked: float
    """When the remote last confirmed it, in seconds since the epoch."""


class ResponseCache:
    """Responses by key on disk. Cache errors are never raised."""

    def __init__(
        self, folder: str, *, max_bytes: int = MAX_BYTES, oldest_s: float = OLDEST_S
    ) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self.oldest_s = oldest_s
        self._unseen = max_bytes
        """Bytes that were written since the size of the cache was looked at."""

    def get(self, key: str, now: float) -> CachedResponse | None:
        """Return the cached response; None for a damaged one, too."""
        try:
            data, info = read_regular(self._place(key), self.max_bytes)
        except OSError:
            return None
        digest, _, rest = data.partition(b"\n")
        if now - info.st_mtime > self.oldest_s or _digest(key, rest) != digest:
            return None
        head, _, body = rest.partition(b"\n")
        status, headers = json.loads(head)
        return CachedResponse(status, headers, body, info.st_mtime)

    def put(self, key: str, response: CachedResponse) -> None:
        """Store a response. An unwritable cache stays as it is."""
        head = json.dumps([response.status, dict(response.headers)]).encode()
        rest = head + b"\n" + response.body
        place = self._place(key)
        with suppress(OSError):
            os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
            data = _digest(key, rest) + b"\n" + rest
            atomic_write(place, data, mode=0o600, durable=False)
            self.confirm(key, response.checked)
            self._unseen += len(data)
            if self._unseen > self.max_bytes * SHARE_BETWEEN_LOOKS:
                self._unseen = 0
                self._trim(response.checked)

    def confirm(self, key: str, now: float) -> None:
        """Record that the remote confirmed the cached response."""
        with suppress(OSError):
            os.utime(self._place(key), (now, now))

    def stats(self) -> CacheStats:
        """Return the size of the cache."""
        files = self._files()
        oldest = min((checked for checked, _, _ in files), default=None)
        return CacheStats(
            entries=len(files), bytes=sum(size for _, size, _ in files), oldest=oldest
        )

    def _trim(self, now: float) -> None:
        """Remove what is too old, and while the files are too large what is oldest."""
        files = sorted(self._files())
        total = sum(size for _, size, _ in files)
        most = self.max_bytes * SHARE_AFTER_EVICTION if total > self.max_bytes else total
        for checked, size, path in files:
            if total <= most and now - checked <= self.oldest_s:
                break
            total -= size
            with suppress(OSError):
                os.unlink(path)

    def _files(self) -> list[tuple[float, int, str]]:
        """Return time, size and path of each file."""
        files = []
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                with suppress(OSError):
                    info = os.lstat(path)
                    files.append((info.st_mtime, info.st_size, path))
        return files

    def _place(self, key: str) -> str:
        return os.path.join(self.folder, key[:2], key)


def _digest(key: str, rest: bytes) -> bytes:
    return sha256(key.encode() + rest).hex().encode()


CHUNK = 65_536
_GZIP = zlib.MAX_WBITS | 16
_OVERHEAD = 1_024
"""Bytes by which packing may enlarge what cannot be packed, beside one in a thousand: a header, a
trailer, and five for each block of 16 KiB (RFC 1951, §3.2.4)."""


async def read_body(url: str, response: Any, max_bytes: int) -> bytes:
    """Return the decompressed body. Raises SourceFailed: too large, badly compressed, truncated.

    What is packed is counted as well: empty blocks never end by themselves.
    """
    declared = response.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > max_bytes:
        raise _too_large(url, max_bytes)
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "", "gzip"):
        raise SourceFailed("bad_answer", f"{url}: packed as {packing[:40]!r}")
    gunzip = zlib.decompressobj(_GZIP) if packing == "gzip" else None
    body, packed_left = bytearray(), max_bytes + max_bytes // 1_000 + _OVERHEAD
    async for chunk in response.aiter_raw(CHUNK):
        packed_left -= len(chunk)
        if gunzip is None:
            body += chunk
        elif packed_left >= 0:
            try:  # one more byte shows that it is more
                body += gunzip.decompress(chunk, max_bytes + 1 - len(body))
            except zlib.error as error:
                what = f"{url}: it cannot be unpacked: {error}"
                raise SourceFailed("bad_answer", what) from None
        if len(body) > max_bytes or packed_left < 0 or (gunzip and gunzip.unconsumed_tail):
            raise _too_large(url, max_bytes)
        if gunzip is not None and gunzip.unused_data:
            raise SourceFailed("bad_answer", f"{url}: something follows its end")
    if gunzip is not None and not gunzip.eof:
        raise SourceFailed("bad_answer", f"{url}: the answer is cut off")
    return bytes(body)


def _too_large(url: str, max_bytes: int) -> SourceFailed:
    return SourceFailed("too_large", f"{url}: more than {max_bytes:,} bytes")


def json_of(headers: Mapping[str, str], body: bytes, what: str) -> Any:
    """Return the JSON of a response. Raises SourceFailed, with its own message for an HTML page."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        kind = headers.get("content-type", "").partition(";")[0]
        page = kind == "text/html" or body.lstrip()[:1] == b"<"
        came = "a web page" if page else "something else"
        raise SourceFailed("bad_answer", f"{what}: {came} came instead of JSON") from None


def text_in(value: Any, most: int) -> str:
    """Return a text of an answer without lone surrogates, shortened; empty for anything else."""
    text = value.strip()[:most] if isinstance(value, str) else ""
    return text.encode("utf-8", "replace").decode()
