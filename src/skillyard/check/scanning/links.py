"""Links that show another address than the one they lead to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillyard.check.scanning.document import PROSE, Document
from skillyard.check.scanning.rule import Hit, Pattern
from skillyard.check.scanning.words import group

_URL = r"https?://(?:[^\s/@\]()<>\"']{1,80}@)?([\w.-]{4,120})"
_LINK = re.compile(
    rf"\[\s{{0,3}}<?{_URL}[^\s\]]{{0,300}}\s{{0,3}}\]\(\s{{0,3}}<?{_URL}[^\s)]{{0,400}}"
)
_ELEMENT = re.compile(rf"href=[\"']?{_URL}[^<\n]{{0,400}}>\s{{0,3}}{_URL}[^<\n]{{0,300}}</a>")
_OWN = frozenset(["localhost", "example.com", "example.org", "example.net"])
_SCHEMES = group("http https")


def misleading_link(document: Document, patterns: tuple[Pattern, ...]) -> Iterator[Hit]:
    """Yield links in prose whose text is an address on the site of somebody else."""
    text = document.lowered
    if document.kind != PROSE or not document.has(_SCHEMES):
        return
    links = [(match, match[1], match[2]) for match in _LINK.finditer(text)]
    if "href=" in text:
        links += [(match, match[2], match[1]) for match in _ELEMENT.finditer(text)]
    for match, shown, target in links:
        if _site(shown) != _site(target) and _site(shown) not in _OWN:
            yield Hit(match.start(), match.end(), note=f"it shows {shown} and leads to {target}")


def _site(host: str) -> str:
    """Return the last two labels of a host, three below a short one such as ``co.uk``."""
    labels = host.strip(".").split(".")
    short = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3
    return ".".join(labels[-3 if short else -2 :])
