"""Write reproducible zip archives: the same files always give the same bytes."""

from __future__ import annotations

import io
import stat
from collections.abc import Iterable

from skillyard.install.copies.archives import ArchiveFile

_UNIX = 3
"""The host system of the entries' permissions: Unix (APPNOTE 6.3, section 4.4.2)."""


def write_zip(files: Iterable[ArchiveFile]) -> bytes:
    """Return a zip archive of the files, sorted by path, with the owner's execute bit.

    The files are stored uncompressed and dated 1980: the output of deflate differs between versions
    of zlib, and the digest of an archive must not. HTTP compresses the response.
    """
    import zipfile

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(files):
            entry = zipfile.ZipInfo(file.path)
            entry.create_system = _UNIX
            entry.external_attr = (stat.S_IFREG | (0o755 if file.executable else 0o644)) << 16
            archive.writestr(entry, file.data)
    return out.getvalue()
