"""Archives of a small skill, and the reason for which one is refused: what the tests here share."""

from __future__ import annotations

import stat

import pytest

from skillyard.install.copies.archives import (
    DEFAULT,
    ArchiveKind,
    ArchiveLimits,
    ArchiveRefused,
    read_archive,
)
from tests.hostile.archive_cases import TarEntry, ZipEntry, gzipped, tar_bytes, zip_bytes
from tests.hostile.case import skill_bytes

SKILL = skill_bytes()
SKILL_ENTRY = ZipEntry(b"SKILL.md", SKILL)
SKILL_HEAD = TarEntry(b"SKILL.md", SKILL)
NOTE = b"Notes on pencils.\n"
LONG = b"l" * 80 + b"/" + b"o" * 80 + b"/x.md"
EXECUTABLE = stat.S_IFREG | 0o755


def zipped(*more: ZipEntry, **options: bytes) -> bytes:
    return zip_bytes([SKILL_ENTRY, *more], **options)


def tarred(*more: TarEntry, end: bytes = bytes(1024)) -> bytes:
    return gzipped(tar_bytes([SKILL_HEAD, *more], end))


def code_of(data: bytes, kind: ArchiveKind, limits: ArchiveLimits = DEFAULT) -> str:
    with pytest.raises(ArchiveRefused) as caught:
        read_archive(data, kind, limits)
    assert caught.value.message
    assert caught.value.hint
    return caught.value.code
