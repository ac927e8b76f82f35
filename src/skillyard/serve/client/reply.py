"""A response read in pieces, decompressed, and bounded in size.

Nothing here does I/O: the reader of the connection passes the pieces in.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

from skillyard.base.io.gunzip import Gunzip, TooMuch
from skillyard.serve.client.document import Mismatch


class Reply(NamedTuple):
    """A complete response."""

    status: int
    headers: Mapping[str, str]
    """By names in lower case."""
    body: bytes
    """The decompressed body."""


class Incoming:
    """A response whose head has arrived. Every method raises Mismatch for an invalid one."""

    def __init__(
        self, status: int, headers: Mapping[str, str], most_bytes: int, until: float
    ) -> None:
        """``until`` is the deadline, by the monotonic clock."""
        self._status = status
        self._headers = {name.lower(): value for name, value in headers.items()}
        self._most = most_bytes
        self._until = until
        self._body = bytearray()
        packing = self._headers.get("content-encoding", "identity").strip().lower()
        if packing not in ("identity", "", "gzip"):
            raise Mismatch(f"it is packed as {packing[:40]!r}, which was not requested")
        self._gunzip = Gunzip(most_bytes) if packing == "gzip" else None
        declared = self._headers.get("content-length", "")
        if (
            declared.isascii()
            and declared.isdigit()
            and (len(declared) > 18 or int(declared) > most_bytes)
        ):
            raise self._too_large()

    def add(self, piece: bytes) -> None:
        """Add the next piece. Raises TimeoutError after the deadline."""
        if time.monotonic() > self._until:
            raise TimeoutError
        try:
            self._body += piece if self._gunzip is None else self._gunzip.add(piece)
        except TooMuch:
            raise self._too_large() from None
        except ValueError as error:
            raise Mismatch(str(error)) from None
        if len(self._body) > self._most:
            raise self._too_large()

    def whole(self) -> Reply:
        """Return the response after its last piece."""
        if self._gunzip is not None and self._body and not self._gunzip.ended:
            raise Mismatch("it is cut off")
        return Reply(self._status, self._headers, bytes(self._body))

    def _too_large(self) -> Mismatch:
        return Mismatch(f"it is larger than {self._most:,} bytes")
