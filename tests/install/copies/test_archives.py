"""Archives: honest ones are read as any tool reads them, all others are refused for their reason.

The 22 archives of the specification are in ``tests/hostile``; here are the tricks behind them,
each limit, and mutations of good archives against the standard library's own readers.
"""

from __future__ import annotations

import stat
import zlib
from collections.abc import Callable

import pytest

from skillyard.install.copies.archives import (
    DEFAULT,
    ArchiveFile,
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
    zip_bytes,
    zip_end,
)
from tests.install.copies.small_archives import (
    EXECUTABLE,
    LONG,
    NOTE,
    SKILL,
    SKILL_ENTRY,
    SKILL_HEAD,
    code_of,
    tarred,
    zipped,
)
from tests.tables import for_each

# --- honest archives ----------------------------------------------------------------------------


def test_folders_leave_nothing_behind_and_bits_become_executable_or_not() -> None:
    files = [
        ArchiveFile("SKILL.md", SKILL, False),
        ArchiveFile("scripts/all.sh", NOTE, True),
        ArchiveFile("scripts/group.sh", NOTE, False),
        ArchiveFile("scripts/none.sh", NOTE, False),
        ArchiveFile("scripts/setuid.sh", NOTE, True),
    ]
    modes = {"all": 0o777, "group": 0o070, "none": 0o000, "setuid": 0o7755}
    as_zip = zipped(
        ZipEntry(b"scripts/", mode=stat.S_IFDIR | 0o755, attributes=0o40755 << 16 | 0x10),
        *(
            ZipEntry(f"scripts/{word}.sh".encode(), NOTE, mode=stat.S_IFREG | mode)
            for word, mode in modes.items()
        ),
    )
    as_tar = tarred(
        TarEntry(b"./", type=b"5"),
        TarEntry(b"./scripts", type=b"5"),
        *(
            TarEntry(f"./scripts/{word}.sh".encode(), NOTE, mode=mode)
            for word, mode in modes.items()
        ),
    )
    assert read_archive(as_zip, "zip") == tuple(files)
    assert read_archive(as_tar, "tar.gz") == tuple(files)


@for_each(
    ("data", "kind"),
    [
        (zipped(comment=b"a commit's name"), "zip"),
        (zipped(ZipEntry(b"x.md", NOTE, attributes=0)), "zip"),
        (zipped(ZipEntry(b"x.md", NOTE, mode=0o644)), "zip"),
        (zipped(ZipEntry(b"x.md", NOTE, method=0)), "zip"),
        (zipped(ZipEntry(b"x.md", NOTE, extra=b"UT\x01\0\0", local_extra=b"UT\x02\0\0\0")), "zip"),
        (zipped(ZipEntry(b"x.md", NOTE, extra=b"up\x09\0" + bytes(5) + b"x.md")), "zip"),
        (zipped(ZipEntry("指.md".encode(), NOTE, flags=0)), "zip"),
        (zipped(ZipEntry(b"x.md", NOTE, flags=8)), "zip"),
        (tarred(pax(b"g", comment=b"a commit's name"), TarEntry(b"x.md", NOTE)), "tar.gz"),
        (tarred(pax(mtime=b"1.5", uid=b"9", SCHILY__xattr__x=b"a=b\0"), TarEntry(b"x.md", NOTE)),
         "tar.gz"),
        (tarred(TarEntry(b"x.md", NOTE, b"\0")), "tar.gz"),
        (tarred(TarEntry(b"x.md", NOTE, time=b"\x80" + bytes(11))), "tar.gz"),
        (tarred(TarEntry(b"x.md", NOTE, time=b" " * 12)), "tar.gz"),
        (tarred(TarEntry(b"x.md", NOTE, magic=b"ustar  \0")), "tar.gz"),
        (tarred(TarEntry(b"x.md", NOTE), end=bytes(10_240)), "tar.gz"),
    ],
)  # fmt: skip
def test_what_honest_tools_do_differently_is_taken(data: bytes, kind: ArchiveKind) -> None:
    files = {file.path: file.data for file in read_archive(data, kind)}
    assert files.pop("SKILL.md") == SKILL
    assert set(files.values()) <= {NOTE}


# --- refusals -----------------------------------------------------------------------------------


def _link(mode: int) -> ZipEntry:
    return ZipEntry(b"x.md", NOTE, mode=mode)


_DEFLATED = zlib.compress(NOTE)[2:-4]

ZIPS: list[tuple[str, Callable[[], bytes]]] = [
    ("archive_kind", lambda: b""),
    ("archive_kind", lambda: b"<!DOCTYPE html>" * 9),
    ("archive_kind", lambda: tarred()),
    ("archive_kind", lambda: b"#!/bin/sh\n" + zipped()),
    ("archive_damaged", lambda: zipped()[:40]),
    ("archive_damaged", lambda: zipped()[:-1]),
    ("archive_damaged", lambda: zipped() + bytes(70_000)),
    ("archive_damaged", lambda: zipped(ZipEntry(b"x.md", NOTE, offset=0))),
    ("archive_damaged", lambda: zipped(ZipEntry(b"x.md", NOTE, offset=1 << 30))),
    ("archive_encrypted", lambda: zipped(ZipEntry(b"x.md", NOTE, flags=0x0801))),
    ("archive_damaged", lambda: zipped(ZipEntry(b"x.md", NOTE, flags=0x0840))),
    ("archive_bomb", lambda: zipped(ZipEntry(b"x.md", NOTE, size=0xFFFFFFFF))),
    ("archive_feature", lambda: zipped(ZipEntry(b"x.md", NOTE, method=12))),
    ("archive_damaged", lambda: zipped(ZipEntry(b"x.md", NOTE, flags=0x20))),
    ("archive_damaged", lambda: zipped(ZipEntry(b"x.md", NOTE, version=64))),
    ("archive_damaged", lambda: zipped().replace(b"PK\x03\x04", b"PK\x03\x05")),
    ("archive_damaged", lambda: zipped(ZipEntry(b"x.md", NOTE, packed=b"\xff\xff\xff"))),
    ("archive_damaged", lambda: zipped(ZipEntry(b"x.md", NOTE, packed=_DEFLATED[:-2], size=99))),
    ("archive_damaged", lambda: zipped(ZipEntry(b"x.md", NOTE, local_name=b"../x"))),
    ("archive_damaged", lambda: zipped(ZipEntry(b"x.md", NOTE, size=5))),
    ("archive_damaged", lambda: zipped(ZipEntry(b"x.md", NOTE, size=5, method=0))),
    ("archive_damaged", lambda: zipped(ZipEntry(b"x.md", NOTE, size=500))),
    ("archive_damaged", lambda: zipped(ZipEntry(b"x.md", NOTE, method=0, packed=NOTE[::-1]))),
    ("archive_damaged", lambda: zipped(ZipEntry(b"caf\xe9.md", NOTE, flags=0))),
    ("archive_damaged", lambda: zipped(ZipEntry(b"\xc0\xae\xc0\xae/x", NOTE))),
    ("archive_special", lambda: zipped(_link(stat.S_IFDIR | 0o755))),
    ("archive_special", lambda: zipped(ZipEntry(b"x/", b"", mode=EXECUTABLE))),
    ("archive_link", lambda: zipped(_link(stat.S_IFLNK | 0o777))),
    ("archive_link", lambda: zipped(ZipEntry(b"x/", b"", mode=stat.S_IFLNK))),
    ("archive_special", lambda: zipped(_link(stat.S_IFIFO))),
    ("archive_special", lambda: zipped(_link(stat.S_IFCHR))),
    ("archive_special", lambda: zipped(_link(stat.S_IFBLK))),
    ("archive_special", lambda: zipped(_link(stat.S_IFSOCK))),
    ("path_hidden_character", lambda: zipped(ZipEntry(b"x.md\0.png", NOTE))),
    ("path_hidden_character", lambda: zipped(ZipEntry(b"a\x1b[2J", NOTE))),
    ("path_git", lambda: zipped(ZipEntry(".g\u200cit/config".encode(), NOTE))),
    ("path_git", lambda: zipped(ZipEntry(b"git~1/config", NOTE))),
    ("path_git", lambda: zipped(ZipEntry(b".git./", mode=stat.S_IFDIR))),
    ("path_device", lambda: zipped(ZipEntry(b"aux.md", NOTE))),
    ("path_traversal", lambda: zipped(ZipEntry(b"../", mode=stat.S_IFDIR))),
    ("path_empty", lambda: zipped(ZipEntry(b"", NOTE))),
    ("path_absolute", lambda: zipped(ZipEntry(b"/", mode=stat.S_IFDIR))),
    ("path_collision", lambda: zipped(ZipEntry(b"skill.MD", NOTE))),
    ("path_collision",
     lambda: zipped(ZipEntry("é.md".encode(), NOTE), ZipEntry("e\u0301.md".encode(), NOTE))),
    ("path_file_and_folder", lambda: zipped(ZipEntry(b"SKILL.md/x", NOTE))),
    ("path_duplicate", lambda: zipped(ZipEntry(b"./SKILL.md", NOTE))),
    ("skill_file_missing", lambda: zip_end(0, 0, 0)),
    ("skill_file_missing", lambda: zip_bytes([ZipEntry(b"pencil/SKILL.md", SKILL)])),
    ("skill_file_missing", lambda: zip_bytes([ZipEntry(b"skill.md", SKILL)])),
    ("skill_file_missing", lambda: zip_bytes([ZipEntry(b"SKILLS.md", SKILL)])),
    ("skill_file_missing", lambda: zip_bytes([ZipEntry("SKІLL.md".encode(), SKILL)])),
]  # fmt: skip

_SIZED = TarEntry(b"x.md", NOTE)


def _long_name(name: bytes) -> TarEntry:
    return TarEntry(b"././@LongLink", name + b"\0", b"L", magic=b"ustar  \0")


def _records(body: bytes) -> bytes:
    return tarred(TarEntry(b"./PaxHeaders/0", body, b"x"), _SIZED)


TARS: list[tuple[str, Callable[[], bytes]]] = [
    ("archive_kind", lambda: b""),
    ("archive_kind", lambda: tar_bytes([SKILL_HEAD])),
    ("archive_kind", lambda: zipped()),
    ("archive_damaged", lambda: b"\x1f\x8b\x09" + bytes(30)),
    ("archive_damaged", lambda: tarred()[:20] + b"\xff" * 20 + tarred()[40:]),
    ("archive_damaged", lambda: tarred()[:-1]),
    ("archive_damaged", lambda: b"\x1f\x8b"),
    ("archive_damaged", lambda: tarred()[:-8] + bytes(4) + tarred()[-4:]),
    ("archive_damaged", lambda: tarred()[:-4] + bytes(4)),
    ("archive_damaged", lambda: tarred() + b"x"),
    ("archive_damaged", lambda: tarred() + tarred()),
    ("archive_damaged", lambda: tarred(end=bytes(1024) + tar_bytes([_SIZED]))),
    ("archive_damaged", lambda: tarred(end=b"")),
    ("archive_damaged", lambda: tarred(end=bytes(512))),
    ("archive_damaged", lambda: tarred(end=bytes(100))),
    ("archive_damaged", lambda: gzipped(b"")),
    ("archive_damaged", lambda: gzipped(tar_bytes([SKILL_HEAD])[:700])),
    ("archive_damaged", lambda: tarred(TarEntry(b"x.md", size=b"00000100000\0"))),
    ("archive_damaged", lambda: tarred(pax(path=LONG))),
    ("archive_damaged", lambda: tarred(TarEntry(b"x.md", NOTE, checksum=b"000001\0 "))),
    ("archive_damaged", lambda: tarred(TarEntry(b"x.md", NOTE, size=b"a while ago\0"))),
    ("archive_damaged", lambda: tarred(TarEntry(b"x.md", NOTE, size=bytes(12)))),
    ("archive_feature", lambda: tarred(TarEntry(b"x.md", size=b"\xff" * 12))),
    ("archive_feature", lambda: tarred(TarEntry(b"x.md", size=b"\xff" * 11 + b"\0", type=b"x"))),
    ("archive_feature", lambda: tarred(pax(comment=b"x" * 70_000), _SIZED)),
    ("archive_feature", lambda: tarred(_long_name(b"x" * 70_000), _SIZED)),
    ("archive_feature", lambda: _records(b"1" * 70_000)),
    ("archive_damaged", lambda: _records(b"0 a=b\n")),
    ("archive_damaged", lambda: tarred(*[pax(comment=b"x")] * 700, _SIZED)),
    ("archive_link", lambda: tarred(TarEntry(b"x.md", type=b"2", link=b"SKILL.md"))),
    ("archive_special", lambda: tarred(TarEntry(b"x.md", type=b"4"))),
    ("archive_special", lambda: tarred(TarEntry(b"x.md", NOTE, type=b"7"))),
    ("archive_special", lambda: tarred(TarEntry(b"x.md", NOTE, type=b"V"))),
    ("archive_special",
     lambda: tarred(pax(GNU__sparse__map=b"0,1", GNU__sparse__size=b"1"), _SIZED)),
    ("archive_damaged", lambda: tarred(TarEntry(b"x", NOTE, type=b"5"))),
    ("path_traversal", lambda: tarred(pax(path=b"../run.sh"), _SIZED)),
    ("path_traversal", lambda: tarred(pax(path=LONG + b"/../../../x"), _SIZED)),
    ("path_traversal", lambda: tarred(_long_name(b"../" * 40 + b"x"), _SIZED)),
    ("path_traversal", lambda: tarred(TarEntry(b"x", NOTE, prefix=b".."))),
    ("path_absolute", lambda: tarred(TarEntry(b"tmp/x", NOTE, prefix=b"/"))),
    ("path_folder", lambda: tarred(TarEntry(b"x/", NOTE))),
    ("path_not_text", lambda: tarred(TarEntry(b"caf\xe9.md", NOTE))),
    ("path_not_text", lambda: tarred(pax(path=b"\xff" * 9), _SIZED)),
    ("path_duplicate", lambda: tarred(TarEntry(b"./SKILL.md", NOTE))),
    ("path_collision", lambda: tarred(TarEntry(b"Skill.md", NOTE))),
    ("skill_file_missing", lambda: gzipped(tar_bytes([TarEntry(b"p/SKILL.md", SKILL)]))),
    ("skill_file_missing", lambda: gzipped(tar_bytes([TarEntry(b"SKILL.md", type=b"5")]))),
    ("skill_file_missing", lambda: gzipped(tar_bytes([TarEntry(b"./Skill.md", SKILL)]))),
]  # fmt: skip


@for_each(("code", "make"), ZIPS)
def test_each_trick_of_a_zip_is_refused_by_its_own_code(
    code: str, make: Callable[[], bytes]
) -> None:
    assert code_of(make(), "zip") == code


@for_each(("code", "make"), TARS)
def test_each_trick_of_a_tar_is_refused_by_its_own_code(
    code: str, make: Callable[[], bytes]
) -> None:
    assert code_of(make(), "tar.gz") == code


def test_a_skill_in_a_folder_of_its_own_is_pointed_out() -> None:
    with pytest.raises(ArchiveRefused) as caught:
        read_archive(zip_bytes([ZipEntry(b"pencil/SKILL.md", SKILL)]), "zip")
    assert "`pencil`" in caught.value.hint


# --- limits -------------------------------------------------------------------------------------

_FIVE = [SKILL_ENTRY, *(ZipEntry(b"d/%d.md" % number, NOTE) for number in range(4))]
_FIVE_TAR = [SKILL_HEAD, *(TarEntry(b"d/%d.md" % number, NOTE) for number in range(4))]
_SUM = len(SKILL) + 4 * len(NOTE)


@for_each(
    ("limit", "enough", "code"),
    [
        ("entries", 5, "archive_too_many_entries"),
        ("files", 5, "archive_too_many_files"),
        ("total_bytes", _SUM, "archive_total_too_large"),
        ("file_bytes", len(SKILL), "archive_file_too_large"),
    ],
)
def test_each_limit_takes_what_reaches_it_and_refuses_one_more(
    limit: str, enough: int, code: str
) -> None:
    archives: list[tuple[bytes, ArchiveKind]] = [
        (zip_bytes(_FIVE), "zip"),
        (gzipped(tar_bytes(_FIVE_TAR)), "tar.gz"),
    ]
    for data, kind in archives:
        assert len(read_archive(data, kind, DEFAULT._replace(**{limit: enough}))) == 5
        less = DEFAULT._replace(**{limit: enough - 1})
        assert code_of(data, kind, less) == code
        with pytest.raises(ArchiveRefused, match=r"the limit is \d"):
            read_archive(data, kind, less)
