"""Unpacking a gzip stream from an untrusted sender, piece by piece, without trusting its size."""

from __future__ import annotations

import zlib

_GZIP = zlib.MAX_WBITS | 16
_OVERHEAD = 1_024
"""Bytes by which packing may enlarge what cannot be packed, beside one in a thousand: a header, a
trailer, and five for each block of 16 KiB (RFC 1951, §3.2.4)."""


class TooMuch(Exception):
    """More comes out than was allowed, or more goes in than that could need."""


class Gunzip:
    """One gzip stream. Input is counted as well: empty blocks never end by themselves."""

    def __init__(self, max_bytes: int) -> None:
        """``max_bytes`` may come out."""
        self._unpack = zlib.decompressobj(_GZIP)
        self._left = max_bytes
        self._packed_left = max_bytes + max_bytes // 1_000 + _OVERHEAD

    @property
    def ended(self) -> bool:
        """Whether the stream has come to its end."""
        return self._unpack.eof

    def add(self, piece: bytes) -> bytes:
        """Return what a piece unpacks to.

        Raises TooMuch, and ValueError for damage.
        """
        if self._unpack.eof and piece:
            raise ValueError("something follows its end")
        self._packed_left -= len(piece)
        if self._packed_left < 0:
            raise TooMuch
        try:
            data = self._unpack.decompress(piece, self._left + 1)  # one more shows that it is more
        except zlib.error as error:
            raise ValueError(f"it cannot be unpacked: {error}") from None
        self._left -= len(data)
        if self._left < 0 or self._unpack.unconsumed_tail:
            raise TooMuch
        if self._unpack.unused_data:
            raise ValueError("something follows its end")
        return data
