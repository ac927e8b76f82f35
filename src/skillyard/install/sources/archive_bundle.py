"""Fetches the signature that lies beside an archive."""

from __future__ import annotations

from urllib.parse import urlsplit

from skillyard.base.errors import SourceFailed
from skillyard.install.sources.protocol import ArchiveBundle
from skillyard.install.sources.transport import Transport

MAX_BUNDLE_BYTES = 1 << 20
"""A bundle of 512 files has about 150 KB."""
_ENDINGS = (".sigstore.json", ".sigstore")
"""What is added to the path of an archive; the first that is there counts."""


async def fetch_bundle(
    transport: Transport, host: str, url: str, digest: bytes
) -> ArchiveBundle | None:
    """Return the sigstore bundle beside the archive at ``url``, which is not verified yet, or None.

    ``host`` is the name of its host in the transport, ``digest`` the SHA-256 of the archive. What
    a server denies counts as missing: some say so of each file that they do not have. Raises
    SourceFailed.
    """
    parts = urlsplit(url)
    for ending in _ENDINGS:
        beside = parts._replace(path=parts.path + ending, fragment="").geturl()
        try:
            reply = await transport.get(host, beside, accept="*/*", max_bytes=MAX_BUNDLE_BYTES)
        except SourceFailed as error:
            if error.code != "denied":
                raise
            continue
        if reply.status == 200:
            return ArchiveBundle(reply.body, digest)
    return None
