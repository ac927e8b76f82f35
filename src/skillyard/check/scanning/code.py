"""Texts that are encoded in a file: base64 and hexadecimal digits."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from skillyard.check.scanning.document import Document
from skillyard.check.scanning.rule import Hit

_BLOB = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,20000}={0,2}")
_HEX = re.compile(r"(?:[0-9a-f]{2}){16,10000}", re.IGNORECASE)
_HARM = re.compile(
    r"""\b(?:(?:curl|wget)(?=\s)|powershell|Invoke-\w{3,20}|/bin/(?:ba)?sh|bash\s{1,2}-
    |(?:eval|exec)(?=\s{0,2}[(`$]|\s["'])|os\.system|subprocess|rm\s{1,2}-rf|nc\s{1,2}-|ssh\s{1,2}keys?)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_OBJECT = re.compile(r"""[/\\$@|;'"=]|\s-\w""")


def decoded_texts(document: Document) -> Iterator[tuple[Hit, str]]:
    """Yield the readable texts that are in the document as base64 or hexadecimal digits."""
    if not document.places.has_long_word:
        return
    for match in _BLOB.finditer(document.text):
        text = _decode(match[0])
        if text:
            yield Hit(match.start(), match.end()), text


def _decode(blob: str) -> str:
    """Return the text of a blob, empty where it is none."""
    try:
        if _HEX.fullmatch(blob):
            data = bytes.fromhex(blob)
        else:
            plain = blob.rstrip("=").replace("-", "+").replace("_", "/")
            data = base64.b64decode(
                plain[: len(plain) - (len(plain) % 4 == 1)] + "=" * (-len(plain) % 4)
            )
        if data[1::2] == bytes(len(data) // 2) and len(data) > 8:  # UTF-16, as PowerShell encodes
            data = data[::2]
        text = data.decode("utf-8")
    except (binascii.Error, ValueError):
        return ""
    visible = sum(char.isprintable() or char in "\n\t\r" for char in text)
    return text if visible >= 0.95 * len(text) and len(text) >= 12 else ""


def encoded_harm(text: str) -> bool:
    """True for decoded text with a command in it, and something that the command is used on."""
    return _HARM.search(text) is not None and _OBJECT.search(text) is not None
