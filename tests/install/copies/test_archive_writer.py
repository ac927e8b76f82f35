"""What is packed is what comes out, and the bytes depend on nothing but the files."""

from __future__ import annotations

import zipfile
from hashlib import sha256
from io import BytesIO

from skillyard.install.copies.archives import ArchiveFile, write_zip

FILES = [
    ArchiveFile("SKILL.md", b"---\nname: a\n---\n", executable=False),
    ArchiveFile("scripts/rün.sh", b"#!/bin/sh\n\xff\0", executable=True),
    ArchiveFile("assets/empty.bin", b"", executable=False),
]


def test_the_bytes_are_the_same_on_every_machine() -> None:
    data = write_zip(reversed(FILES))
    assert data == write_zip(FILES)
    assert sha256(data).hexdigest() == (
        "f05e434818e9677ca75259d2542fdd13815269cfd0462c9f9787908d3b55164c"
    )
    with zipfile.ZipFile(BytesIO(data)) as archive:
        modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
    assert modes["scripts/rün.sh"] == 0o100755
    assert modes["SKILL.md"] == 0o100644
