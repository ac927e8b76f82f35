"""Unpacking a gzip stream from an untrusted sender, piece by piece, without trusting its size."""

from __future__ import annotations

import zlib

__all__ = ["DataAfterEnd", "Gunzip", "TooMuch", "WrongChecksum"]

_GZIP = zlib.MAX_WBITS | 16
_OVERHEAD = 1_024
"""Bytes by which packing may enlarge what cannot be packed, beside one in a thousand: a header, a
trailer, and five for each block of 16 KiB (RFC 1951, §3.2.4)."""


class TooMuch(Exception):
    """More comes out than was allowed, or more goes in than that could need."""


class WrongChecksum(ValueError):
    """The checksum or the length at the end of the stream is not that of what came out."""


class DataAfterEnd(ValueError):
    """Something follows the end of the stream."""

    def __init__(self) -> None:
        super().__init__("something follows its end")


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

        Raises TooMuch, WrongChecksum, DataAfterEnd, and ValueError for other damage.
        """
        if self._unpack.eof and piece:
            raise DataAfterEnd
        self._packed_left -= len(piece)
        if self._packed_left < 0:
            raise TooMuch
        try:
            data = self._unpack.decompress(piece, self._left + 1)  # one more shows that it is more
        except zlib.error as error:
            raise _damage(error) from None
        self._left -= len(data)
        if self._left < 0 or self._unpack.unconsumed_tail:
            raise TooMuch
        if self._unpack.unused_data:
            raise DataAfterEnd
        return data


def _damage(error: zlib.error) -> ValueError:
    # zlib tells a wrong checksum or length from other damage by its words only.
    text = str(error)
    kind = WrongChecksum if "data check" in text or "length check" in text else ValueError
    return kind(f"it cannot be unpacked: {text}")
