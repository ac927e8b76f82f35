"""Secrets that are read near a place that sends data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillyard.scanning.document import Document
from skillyard.scanning.rule import Hit, Pattern

__all__ = ["secrets_sent"]

_SINK = re.compile(
    r"""\bcurl\b[^\n]{0,200}(?:\s-(?:d|F|T)\s{0,2}\S|--data|--form|--upload-file|-X\s{0,2}(?:POST|PUT)
      |[?&]\w{1,20}=(?:["']?\$|\{\}))
    |\brequests\.(?:post|put)\(|\bhttpx\.(?:post|put)\(|\burlopen\([^\n]{0,120}(?:data\s{0,2}=|\+|,)|\bhttp\.Post\w{0,4}\(|\bNet::HTTP\.post|\burllib\.request\.Request\(
    |\b(?:fetch|axios)\b[^\n]{0,160}\b(?:POST|body)\b|\baxios\.post\(|Invoke-(?:RestMethod|WebRequest)\b[^\n]{0,120}
      -Method\s{1,3}(?:Post|Put)|\|\s{0,3}(?:nc|ncat)\s|\bwget\b[^\n]{0,120}--post|gethostbyname\(|\b(?:nslookup|dig)\b
    |\bhttps?["']?\)?\.request\(|\bcurl\b[^\n]{0,80}-H[^\n]{0,60}\$[^\n]{0,60}https?://(?!api\.|[\w.-]{1,40}\.(?:googleapis|github|gitlab|amazonaws|azure)\.com|localhost|\$)|\bsendmail\b|\bsmtplib\b""",
    re.IGNORECASE | re.VERBOSE,
)
_NEAR = 8
"""Lines between the reading of a secret and the sending of data that belong together."""


def secrets_sent(document: Document, patterns: tuple[Pattern, ...]) -> Iterator[Hit]:
    """Yield the places that send data near a match of the patterns, which read secrets."""
    lines = {document.line(m.start()) for each in patterns for m in each.matches(document)}
    position = 0
    for line in sorted(lines):
        start = max(position, document.start_of(max(line - _NEAR, 1)))
        position = document.end_of(line + _NEAR)
        for match in _SINK.finditer(document.text, start, position):
            yield Hit(match.start(), match.end(), note=f"a secret is read in line {line}")
