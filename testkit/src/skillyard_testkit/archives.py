"""Archives of a skill's files, the same bytes for the same files at any time on any machine."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping

from skillyard.base.errors import InvalidInput

__all__ = ["MEDIA_TYPES", "pack"]

MEDIA_TYPES = {"tar.gz": "application/gzip", "zip": "application/zip"}


def pack(files: Mapping[str, bytes], ending: str) -> bytes:
    """Return the files as a ``tar.gz`` or ``zip``, sorted by path. Raises InvalidInput."""
    if ending not in MEDIA_TYPES:
        raise InvalidInput(f"no archive {ending!r}: give one of {', '.join(MEDIA_TYPES)}")
    return _tar(files) if ending == "tar.gz" else _zip(files)


def _tar(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in sorted(files.items()):
            info = tarfile.TarInfo(path)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return gzip.compress(out.getvalue(), mtime=0)


def _zip(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, data in sorted(files.items()):
            info = zipfile.ZipInfo(path)  # dated 1980, the first date that the format knows
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return out.getvalue()
