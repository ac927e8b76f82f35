"""Rules over what a skill runs and sends: downloads that are run, and secrets that are sent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import islice

from skillyard.check.scanning.document import SCRIPT, Document
from skillyard.check.scanning.rule import (
    HIGH,
    LOW,
    MEDIUM,
    SEVERITIES,
    Pattern,
    RuleHit,
    find_patterns,
)

_INSTALLERS = files(__package__).joinpath("data", "installers.txt").read_text("ascii").split()
"""Hosts whose own documentation installs by such a command. It is still code that nobody read. The
last three are reserved for examples."""
_URL = re.compile(
    r"(?:https?|ftp)://([^\s\"'`)<>|;]{1,400})|(?<![\w./@:$-])((?:[\w-]{1,60}\.){1,5}[a-z]{2,20}/[^\s\"'`)<>|;]{0,400})",
    re.IGNORECASE,
)
"""With its scheme, or as curl takes it without one."""
_VARIABLE = re.compile(r"\$[\w{]")
_ANYBODYS = (
    *("github.com", "githubusercontent.com", "github.io", "gitlab.com", "gitlab.io"),
    *("bitbucket.org", "google.com", "googleapis.com", "huggingface.co", "hf.co"),
    *("cloudsmith.io", "packagecloud.io"),
)
"""Hosts on which everybody can publish: what is there says nothing about who wrote it."""
_LOCAL = re.compile(
    r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|[\w.-]{0,60}\.local)(?:\Z|:)", re.IGNORECASE
)


def download_and_run(document: Document, patterns: tuple[Pattern, ...]) -> Iterator[RuleHit]:
    """Yield downloads that are run. The address decides how severe one is."""
    for hit in find_patterns(document, patterns):
        urls = [*_URL.finditer(document.text, hit.start, hit.end)]
        if not urls:  # an address may stand behind the match
            end = document.end_of(document.line(hit.end))
            urls = [*_URL.finditer(document.text, hit.start, min(end, hit.end + 80))]
        if not urls and _VARIABLE.search(
            document.text, hit.start, hit.end
        ):  # it may be in a variable above
            urls = [*_URL.finditer(document.text, max(0, hit.start - 200), hit.start)][-1:]
        addresses = [url[1] or url[2] for url in urls]
        severities = [_severity_of(each, document.publisher) for each in addresses] or [MEDIUM]
        severity = min(severities, key=SEVERITIES.index)
        is_own = severity == MEDIUM and any(
            _is_of(_host(each), document.publisher) for each in addresses
        )
        note = f"it is an installer of {document.publisher}, who publishes the skill"
        yield hit._replace(severity=hit.severity or severity, note=note if is_own else hit.note)


def _host(address: str) -> str:
    return re.split(r"[/?#\\]", address.lower())[0].rpartition("@")[2]


def _severity_of(address: str, publisher: str) -> str:
    """Return how severe the run of what is at an address is. ``address`` has no scheme.

    Low for known installers and this machine; medium for a host in a variable, for hosts on which
    everybody can publish, and for those of whoever publishes the skill; else high.
    """
    host = _host(address)
    if "$" in host or "{" in host:
        return MEDIUM
    if _LOCAL.match(host) or not re.match(r"[\w\[]", host):
        return LOW
    host = host.partition(":")[0]
    if any(host == each or host.endswith(f".{each}") for each in _ANYBODYS):
        return MEDIUM
    if any(host == each or host.endswith(f".{each}") for each in _INSTALLERS):
        return LOW
    return MEDIUM if _is_of(host, publisher) else HIGH


_MIN_NAME = 3
"""Letters from which on a name says whose a host is."""


def _is_of(host: str, publisher: str) -> bool:
    """True where a host has the name of a publisher, as `tavily-ai` has `cli.tavily.com`.

    One name may begin with the other. That says no more than an address on GitHub does, which
    everybody can have: so it lowers a finding to that of such an address, and no further.
    """
    names = [_letters(label) for label in host.partition(":")[0].split(".")[:-1]]
    ours = _letters(publisher.rpartition(".")[0].rpartition(".")[2] or publisher)
    if len(ours) < _MIN_NAME:
        return False
    own = [each for each in names[-2:] if len(each) >= _MIN_NAME]
    return any(each.startswith(ours) for each in names) or any(map(ours.startswith, own))


def _letters(label: str) -> str:
    return re.sub(r"[^a-z0-9]", "", label.lower())


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


def secrets_sent(document: Document, patterns: tuple[Pattern, ...]) -> Iterator[RuleHit]:
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
            yield RuleHit(match.start(), match.end(), severity, f"a secret is read in line {line}")


_FILE = re.compile(r"(?<![~$\w.{}-])[~$\w.{}-]{0,80}/(?:[\w.{}-]{1,80}/){0,12}[\w.-]{2,80}")
_COMMON = re.compile(r"(?:/usr)?(?:/local)?/s?bin/|/dev/")


def secrets_sent_later(
    documents: Sequence[Document], patterns: tuple[Pattern, ...]
) -> Iterator[tuple[Document, Iterator[RuleHit]]]:
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


def _sinks(document: Document, note: str) -> Iterator[RuleHit]:
    for match in _SINK.finditer(document.text):
        yield RuleHit(match.start(), match.end(), note=note)


def _files(document: Document) -> frozenset[str]:
    names = _FILE.findall(document.text)
    return frozenset(name for name in names if _COMMON.match(name) is None)
