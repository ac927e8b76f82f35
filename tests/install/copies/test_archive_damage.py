"""Archives that are cut, changed or made of any bytes are refused, or read as others read them."""

from __future__ import annotations

import io
import random
import tarfile
import warnings
import zipfile
from pathlib import PurePosixPath

import pytest

from skillyard.install.copies.archives import (
    ArchiveKind,
    ArchiveRefused,
    read_archive,
)
from tests.hostile.archive_cases import (
    TarEntry,
    ZipEntry,
    gzipped,
    pax,
    tar_bytes,
)
from tests.install.copies.small_archives import EXECUTABLE, LONG, NOTE, SKILL_HEAD, zipped
from tests.tables import for_each

_GOOD_ZIP = zipped(
    ZipEntry(b"scripts/run.sh", NOTE, mode=EXECUTABLE),
    ZipEntry(b"notes.md", NOTE * 3, method=0),
    ZipEntry(b"more.md", NOTE, flags=0x0808),
)
_GOOD_TAR = tar_bytes(
    [
        SKILL_HEAD,
        TarEntry(b"./scripts/", type=b"5"),
        pax(path=LONG, mtime=b"1.5"),
        TarEntry(LONG[:100], NOTE),
        TarEntry(b"x.md", NOTE, prefix=b"notes"),
    ]
)


def _mutated(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(changed))
        match draw.randrange(4):
            case 0:
                changed[at] ^= 1 << draw.randrange(8)
            case 1:
                changed[at] = draw.choice(b"\0\xff./\\0178PK ")
            case 2:
                del changed[at : at + draw.choice((1, 4, 512))]
            case _:
                changed[at:at] = changed[at : at + draw.choice((1, 4, 512))]
        changed = changed or bytearray(b"\0")
    return bytes(changed)


def _summed(data: bytes) -> bytes:
    """Return a tar whose headers have the right checksums again, whatever else they say."""
    changed = bytearray(data)
    for at in range(0, len(changed) - 511, 512):
        if changed[at + 257 : at + 262] == b"ustar":
            changed[at + 148 : at + 156] = b" " * 8
            changed[at + 148 : at + 156] = b"%06o\0 " % sum(changed[at : at + 512])
    return bytes(changed)


def _as_zipfile_reads(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir()]
        return {info.filename: archive.read(info) for info in infos}


def _as_tarfile_reads(data: bytes) -> dict[str, bytes]:
    found = {}
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for info in archive.getmembers():
            if not info.isdir():
                opened = archive.extractfile(info)
                assert opened is not None
                found[info.name] = opened.read()
    return found


def _read(data: bytes, kind: ArchiveKind) -> dict[str, bytes] | None:
    """Return the files by path, or None when the archive is refused; nothing else is raised."""
    try:
        return {file.path: file.data for file in read_archive(data, kind)}
    except ArchiveRefused as error:
        if not (error.code and error.hint):
            raise
        return None


@pytest.mark.slow
@for_each("kind", ["zip", "tar.gz"])
def test_damaged_archives_are_refused_or_read_as_the_standard_library_reads_them(
    kind: ArchiveKind,
) -> None:
    draw = random.Random(11)
    good = _GOOD_ZIP if kind == "zip" else _GOOD_TAR
    accepted = 0
    for _ in range(10_000 if kind == "zip" else 3_000):
        data = _mutated(good, draw)
        if kind == "tar.gz":
            data = _summed(data)
        found = _read(data if kind == "zip" else gzipped(data), kind)
        if found is None:
            continue
        accepted += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the standard library's remarks on odd headers
            theirs = _as_zipfile_reads(data) if kind == "zip" else _as_tarfile_reads(data)
        assert found == {str(PurePosixPath(path)): theirs[path] for path in theirs}
    assert 100 < accepted < 2_500, "one side was hardly tried"
