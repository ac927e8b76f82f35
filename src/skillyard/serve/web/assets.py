"""The assets of the pages (a style sheet, a script, an icon), addressed by content hash."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

from skillyard.base.io.sha256 import sha256

STYLE = "skillyard.css"
SCRIPT = "skillyard.js"
ICON = "icon.svg"
_MEDIA = {
    STYLE: "text/css; charset=utf-8",
    SCRIPT: "text/javascript; charset=utf-8",
    ICON: "image/svg+xml",
}


class Asset(NamedTuple):
    """One file."""

    body: bytes
    media: str
    version: str
    """The content hash; part of the address, so that browsers may cache it without limit."""


@cache
def asset(name: str) -> Asset | None:
    """Return the asset with that name; None when there is none."""
    if name not in _MEDIA:
        return None
    body = files("skillyard.serve.web").joinpath("static", name).read_bytes()
    return Asset(body, _MEDIA[name], sha256(body).hex()[:16])


def address_of(name: str) -> str:
    """Return the address of an asset. Raises KeyError for an unknown name."""
    file = asset(name)
    if file is None:
        raise KeyError(name)
    return f"/static/{name}?v={file.version}"
