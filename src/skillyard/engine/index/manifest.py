"""The manifest lists the segments of the current generation. Replacing it is the commit.

The file contains a JSON header, small segments inline (so that a small commit writes, syncs and
renames one file), and a CRC-32 over everything before it.
"""

import json
import os
import struct
from collections.abc import Mapping
from mmap import ACCESS_READ, mmap
from types import MappingProxyType
from typing import Any, NamedTuple
from zlib import crc32

from skillyard.base.errors import IndexDamaged, SkillIoError
from skillyard.base.io.platforms import MAPPED_FILES_CAN_BE_REPLACED

NAME = "manifest.skyidx"
MAGIC = b"SKYIDX\x00\x01"
_HEAD = struct.Struct("<8sI")  # magic, bytes of JSON
_CHECK = struct.Struct("<I")
REBUILD = "rebuild it with `skillyard index build`"


class SegmentEntry(NamedTuple):
    """One segment of the index."""

    file: str
    """File name; empty for a segment inside the manifest."""
    offset: int
    """Offset in the manifest; 0 for a file."""
    size: int
    dead: frozenset[int]
    """Numbers of documents deleted or replaced since the segment was written."""


class SideFile(NamedTuple):
    """A file that the caller stores with a generation."""

    file: str
    size: int
    check: int


class IndexManifest(NamedTuple):
    """One generation of an index."""

    generation: int
    dimensions: int
    settings: Mapping[str, str]
    parts: tuple[SegmentEntry, ...]
    sides: Mapping[str, SideFile]
    notes: Mapping[str, str] = MappingProxyType({})
    """Short texts that the caller stores with a generation."""


def render_manifest(manifest: IndexManifest, inline: Mapping[int, bytes]) -> bytes:
    """Return the bytes of a manifest. ``inline`` maps positions in ``parts`` to segment bytes."""
    blobs: list[bytes] = []
    place = 0
    parts = []
    for number, part in enumerate(manifest.parts):
        dead = _encode_dead(part.dead)
        entry: dict[str, Any] = {"file": part.file, "size": part.size, "dead": dead}
        if number in inline:
            blob = inline[number].ljust(-(-part.size // 8) * 8, b"\0")
            entry["offset"] = place
            place += len(blob)
            blobs.append(blob)
        parts.append(entry)
    shape = {
        "generation": manifest.generation,
        "dimensions": manifest.dimensions,
        "settings": dict(manifest.settings),
        "parts": parts,
        "sides": {name: list(side) for name, side in sorted(manifest.sides.items())},
    }
    if manifest.notes:
        shape["notes"] = dict(sorted(manifest.notes.items()))
    text = json.dumps(shape, separators=(",", ":")).encode("ascii")
    text = text.ljust(-(-(len(text) + _HEAD.size) // 8) * 8 - _HEAD.size)  # blobs are aligned
    body = b"".join([_HEAD.pack(MAGIC, len(text)), text, *blobs])
    return body + _CHECK.pack(crc32(body))


def _encode_dead(numbers: frozenset[int]) -> Any:
    """Return up to 64 numbers as a list, more as a base64 bitmap."""
    if len(numbers) <= 64:
        return sorted(numbers)
    from binascii import b2a_base64

    bits = 0
    for number in numbers:
        bits |= 1 << number
    return b2a_base64(bits.to_bytes((bits.bit_length() + 7) // 8, "little"), newline=False).decode()


def _numbers_in(bitmap: str) -> frozenset[int]:
    from binascii import a2b_base64

    bits = int.from_bytes(a2b_base64(bitmap, strict_mode=True), "little")
    return frozenset(n for n, bit in enumerate(reversed(f"{bits:b}")) if bit == "1")


def parse_manifest(data: memoryview, path: str) -> IndexManifest:
    """Return the manifest in ``data``. Raises IndexDamaged."""
    try:
        magic, size = _HEAD.unpack_from(data)
        if magic != MAGIC:
            raise IndexDamaged("this is not an index of this version", path=path, hint=REBUILD)
        if _CHECK.unpack_from(data, len(data) - _CHECK.size)[0] != crc32(data[: -_CHECK.size]):
            raise IndexDamaged("the manifest does not match its checksum", path=path, hint=REBUILD)
        shape = json.loads(bytes(data[_HEAD.size : _HEAD.size + size]))
        base = _HEAD.size + size
        parts = tuple(
            SegmentEntry(
                p["file"],
                base + p.get("offset", 0),
                p["size"],
                frozenset(map(int, dead)) if isinstance(dead, list) else _numbers_in(dead),
            )
            for p in shape["parts"]
            for dead in (p["dead"],)
        )
        sides = {name: SideFile(*side) for name, side in shape["sides"].items()}
        notes = {str(name): str(text) for name, text in shape.get("notes", {}).items()}
        header = (shape["generation"], shape["dimensions"], shape["settings"])
        return IndexManifest(*header, parts, sides, notes)
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise IndexDamaged(
            f"the manifest cannot be read ({type(error).__name__})", path=path, hint=REBUILD
        ) from None


def read_manifest(folder: str) -> tuple[IndexManifest, bytes] | None:
    """Return the manifest of a folder with its bytes, or None when there is no index.

    Raises IndexDamaged, and SkillIoError when it cannot be read.
    """
    path = os.path.join(folder, NAME)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise io_error("read", path, error) from None
    return parse_manifest(memoryview(data), path), data


def write_file(folder: str, name: str, data: bytes) -> None:
    """Write one file of an index atomically. Raises SkillIoError."""
    from skillyard.base.io.files import atomic_write  # deferred: a query only reads

    path = os.path.join(folder, name)
    try:
        atomic_write(path, data, mode=0o600)
    except OSError as error:
        raise io_error("write", path, error) from None


def map_file(path: str) -> mmap | bytes | None:
    """Return a memory-mapped file; None when it does not exist. Raises SkillIoError."""
    try:
        with open(path, "rb") as file:
            if not os.fstat(file.fileno()).st_size:
                return b""
            if path.endswith(NAME) and not MAPPED_FILES_CAN_BE_REPLACED:
                return file.read()  # a mapped file cannot be replaced there
            return mmap(file.fileno(), 0, access=ACCESS_READ)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise io_error("read", path, error) from None


def io_error(what: str, path: str, error: OSError) -> SkillIoError:
    """Return the error for an index file that could not be read or written."""
    reason = error.strerror or str(error)
    return SkillIoError(
        f"cannot {what} the index: {reason}", path=path, hint="check the folder and its space"
    )
