"""Addresses of git repositories: which are understood, and which a lock file may name.

Whoever names an address on a command line may name a server of their own. A lock file comes with a
clone and is untrusted: see :func:`check_locked`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from skillyard.base.errors import InvalidInput, SourceFailed
from skillyard.install.copies.file_paths import shown_path

FORGES = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})
"""Public hosts that a lock file may name for ssh."""
SCHEMES = ("https", "ssh", "git", "http", "file")
PLAIN_SCHEMES = frozenset({"git", "http"})
"""Without encryption or a check of who answers."""
MAX_CHARACTERS = 2_000
MAX_REF = 200

_SCP = re.compile(r"(?P<user>[A-Za-z0-9_][A-Za-z0-9._-]*)@(?P<host>[^:/@\s]+):(?P<path>[^\s]+)")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NO_REF = re.compile(
    r"\.\.|@\{|//|[\x00-\x20\x7f~^:?*\[\\]|(?:^|/)\.|\.lock(?:/|$)|[/.]$|^[-/]|^@$"
)
"""What git refuses in the name of a ref (git-check-ref-format), and a leading hyphen."""


class GitAddress(NamedTuple):
    """The parsed address of a repository."""

    url: str
    """As git gets it and a lock file stores it: without user name and password over http."""
    scheme: str
    """One of ``https``, ``ssh``, ``git``, ``http`` and ``file``."""
    host: str
    """In lower case; empty for ``file``."""
    port: int | None
    path: str

    @property
    def is_encrypted(self) -> bool:
        """False where somebody on the way can read and change what comes."""
        return self.scheme not in PLAIN_SCHEMES or self.host in ("localhost", "127.0.0.1", "[::1]")

    @property
    def shown(self) -> str:
        """The repository in short: host and path, or the path of a folder."""
        return (
            f"{self.host}/{self.path.strip('/').removesuffix('.git')}" if self.host else self.path
        )

    @property
    def name(self) -> str:
        """The last part of the path, without ``.git``."""
        return self.path.rstrip("/").rpartition("/")[2].removesuffix(".git")


def is_git_address(text: str) -> bool:
    """True for what is written as the address of a repository and of nothing else."""
    scheme, separator, _ = text.partition("://")
    if not separator:
        return _SCP.fullmatch(text) is not None
    return scheme in ("ssh", "git", "file") or (
        scheme in ("https", "http") and urlsplit(text).path.rstrip("/").endswith(".git")
    )


def parse_git_address(text: str) -> GitAddress:
    """Return the parsed address. Raises InvalidInput, with a message that repeats no password."""
    if len(text) > MAX_CHARACTERS or not text.isascii() or not text.isprintable() or " " in text:
        raise InvalidInput(
            f"{shown_path(_without_user(text))!r} is not the address of a git repository: write it"
            " in ASCII, with other characters as %XX"
        )
    if "://" not in text:
        match = _SCP.fullmatch(text)
        if match is None:
            raise _unknown(text)
        return _checked(GitAddress(text, "ssh", match["host"].lower(), None, match["path"]), text)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _unknown(text) from None
    if parts.scheme not in SCHEMES:
        known = ", ".join(SCHEMES)
        raise InvalidInput(f"git is not asked over {parts.scheme!r}; use one of: {known}")
    refuse_login(text)
    if parts.query or parts.fragment:
        where = shown_path(_without_user(text).partition("?")[0].partition("#")[0])
        raise InvalidInput(f"{where!r} is followed by parameters; leave them out")
    if parts.username is not None and not re.fullmatch(r"[A-Za-z0-9_][\w.-]*", parts.username):
        raise _unknown(text)
    host = parts.netloc.rpartition("@")[2].lower()
    host = host.removesuffix(f":{port}").removesuffix(":")
    return _checked(GitAddress(text.rstrip("/"), parts.scheme, host, port, parts.path), text)


def refuse_login(url: str) -> None:
    """Raise InvalidInput for an address with a password, or over http with a user name.

    The message repeats neither.
    """
    parts = urlsplit(url)
    if parts.password is not None or (parts.username is not None and parts.scheme != "ssh"):
        raise InvalidInput(
            f"the address of {shown_path(parts.hostname or 'a repository')} holds a user name or"
            " password, which would end up in the lock file; leave it out and let git's credential"
            " helper give it (git help credentials)"
        )


def _checked(address: GitAddress, text: str) -> GitAddress:
    has_host = bool(_HOST.fullmatch(address.host)) and ".." not in address.host
    if address.scheme == "file":
        has_host = not address.host and address.path.startswith("/")
    # A policy compares the address as it is written, and servers resolve such steps.
    if not {".", ".."}.isdisjoint(unquote(address.path).split("/")):
        raise _unknown(text)
    if not has_host or address.path.strip("/") in ("", ".git") or address.path.startswith("-"):
        raise _unknown(text)
    return address


def _unknown(text: str) -> InvalidInput:
    return InvalidInput(
        f"{shown_path(_without_user(text))!r} is not the address of a git repository: write"
        " https://host/path.git, ssh://host/path.git or user@host:path.git"
    )


def _without_user(text: str) -> str:
    """Return an address without what stands before the last ``@`` of its host."""
    scheme, separator, rest = text.partition("://")
    if not separator:
        return text
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def is_commit(ref: str) -> bool:
    """True for the full name of a commit: 40 or 64 hexadecimal digits."""
    return _COMMIT.fullmatch(ref) is not None


def check_ref(ref: str) -> str:
    """Return the name of a branch, tag or commit. Raises InvalidInput for what git refuses."""
    if not ref or len(ref) > MAX_REF or _NO_REF.search(ref) or not ref.isprintable():
        raise InvalidInput(
            f"{shown_path(ref)!r} is not a branch, tag or commit; git allows no such name"
        )
    return ref


def check_locked(address: GitAddress, hosts: Iterable[str]) -> None:
    """Check the address that a lock file names. Raises SourceFailed (``refused``).

    A lock file may name public hosts over https, and :data:`FORGES` over ssh. Anything else needs
    an entry in ``hosts``, the user's setting: the name of a host, for https and ssh, or the
    beginning of addresses (``http://git.corp.example``, ``file:///srv/git``). Whether a host over
    https is public is checked when it is resolved.
    """
    if address.scheme == "https" or is_trusted(address, hosts):
        return
    if address.scheme == "ssh" and address.host in FORGES:
        return
    port = f":{address.port}" if address.port else ""
    entry = f"{address.scheme}://{address.host}{port}"
    entry = address.host if address.scheme == "ssh" else entry
    entry = f"file://{address.path}" if address.scheme == "file" else entry
    raise SourceFailed(
        "refused",
        f"a lock file names {shown_path(address.url)}, and may come from a stranger",
        hint=f"if you know it, add {entry!r} to git_hosts in [sources] of your skillyard.toml",
    )


def is_trusted(address: GitAddress, hosts: Iterable[str]) -> bool:
    """True where an entry of the user's setting covers the address."""
    segments = unquote(address.path).split("/")
    has_dots = "." in segments or ".." in segments  # would lead out of what the entry names
    for entry in hosts:
        if "://" in entry:
            if has_dots:
                continue
            if address.url == entry or address.url.startswith(f"{entry.rstrip('/')}/"):
                return True
        elif address.scheme in ("https", "ssh") and address.host == entry.lower():
            return True
    return False
