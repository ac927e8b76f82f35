"""Secrets that are read near a place that sends data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from skillyard.check.scanning.document import SCRIPT, Document
from skillyard.check.scanning.rule import MEDIUM, Hit, Pattern

_SINK = re.compile(
    r"""\bcurl\b(?![^\n]{0,120}https?://169\.254\.(?![^\n]{0,200}https?://))[^\n]{0,200}(?:\s-(?-i:[dFT])\s{0,2}\S|--data|--form|--upload-file|-X\s{0,2}(?:POST|PUT)
      |[?&]\w{1,20}=(?:["']?\$|\{\}))
    |\brequests\.(?:post|put)\(|\bhttpx\.(?:post|put)\(|\burlopen\([^\n]{0,120}(?:data\s{0,2}=|\+|,)|\bhttp\.Post\w{0,4}\(|\bNet::HTTP\.post|\burllib\.request\.Request\(
    |\b(?:fetch|axios)\((?!\s{0,3}["'`]/(?!/))[^\n]{0,160}\b(?:POST|body)\b|\baxios\.post\(|Invoke-(?:RestMethod|WebRequest)\b[^\n]{0,120}
      -Method\s{1,3}(?:Post|Put)|\|\s{0,3}(?:nc|ncat)\s|\bwget\b[^\n]{0,120}--post|gethostbyname\(|\b(?:nslookup|dig)\b[^\n]{0,100}[${+%]
      (?!\{?(?:lookup|host(?:name)?|domain|fqdn|server|service|target)\}?(?:["'\s)]|\Z))
    |\bhttps?["']?\)?\.request\(|\.request\(\s{0,3}["'](?:POST|PUT)|\bcurl\b[^\n]{0,80}-H[^\n]{0,60}\$[^\n]{0,60}https?://(?!api\.|[\w.-]{1,40}\.(?:googleapis|github|gitlab|amazonaws|azure)\.com|localhost|169\.254\.|\$)|\bsendmail\b|\bsmtplib\b""",
    re.IGNORECASE | re.VERBOSE,
)
_NEAR = 8
"""Lines between the reading of a secret and the sending of data that belong together."""
_TOKEN = re.compile(r"print-access-token|auth\s{1,3}token")
"""Of a command line tool, for requests to its own service."""
_OTHERS = re.compile(
    r"https?://(?!\$|\{|<|localhost|127\.|(?:[\w.{}$-]{1,80}\.)?(?:googleapis|google|github)\.com\b)"
)
"""An address that is neither a variable nor of a service that such a tool belongs to."""


def secrets_sent(document: Document, patterns: tuple[Pattern, ...]) -> Iterator[Hit]:
    """Yield the places that send data near a match of the patterns, which read secrets."""
    matches = [m for each in patterns for m in each.matches(document)]
    lines = {document.line(match.start()): match[0] for match in matches}
    near = 0 if document.path.lower().endswith(".json") else _NEAR
    position = 0
    for line, secret in sorted(lines.items()):
        start = max(position, document.start_of(max(line - near, 1)))
        position = document.end_of(line + near)
        is_own = _TOKEN.search(secret) is not None and not _OTHERS.search(
            document.text, start, position
        )
        for match in _SINK.finditer(document.text, start, position):
            severity = MEDIUM if is_own else ""
            yield Hit(match.start(), match.end(), severity, f"a secret is read in line {line}")


_FILE = re.compile(r"(?<![~$\w.{}-])[~$\w.{}-]{0,80}/(?:[\w.{}-]{1,80}/){0,12}[\w.-]{2,80}")
_COMMON = re.compile(r"(?:/usr)?(?:/local)?/s?bin/|/dev/")


def secrets_sent_later(
    documents: Sequence[Document], patterns: tuple[Pattern, ...]
) -> Iterator[tuple[Document, Iterator[Hit]]]:
    """Yield scripts with the places in them that send what another script read.

    That one reads a secret, and both name one file. The places are searched as they are taken.
    """
    scripts = [each for each in documents if each.kind == SCRIPT]
    readers: dict[str, list[tuple[str, int]]] = {}
    for each in scripts if len(scripts) > 1 else ():
        for match in islice((match for one in patterns for match in one.matches(each)), 1):
            # A file with secrets that both name carries nothing from one to the other.
            for name in (n for n in _files(each) if not n.lower().endswith(match[0])):
                readers.setdefault(name, []).append((each.path, each.line(match.start())))
    for each in scripts if readers else ():
        near = [reader for name in _files(each) for reader in readers.get(name, ())[:2]]
        path, line = min((reader for reader in near if reader[0] != each.path), default=("", 0))
        if path:
            yield each, _sinks(each, f"a secret is read in {path}, line {line}")


def _sinks(document: Document, note: str) -> Iterator[Hit]:
    for match in _SINK.finditer(document.text):
        yield Hit(match.start(), match.end(), note=note)


def _files(document: Document) -> frozenset[str]:
    names = _FILE.findall(document.text)
    return frozenset(name for name in names if _COMMON.match(name) is None)
