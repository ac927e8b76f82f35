"""The settings of remote search: the section ``[sources]`` of the user's ``skillyard.toml``.

A token is sent only to its own host. Of the environment, only ``SKILLYARD_OFFLINE`` and the tokens
of GitHub that other programs use too are read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, NamedTuple

from skillyard.base.configuration import project_folders, project_toml, read_section
from skillyard.base.errors import InvalidInput
from skillyard.base.operation import Bounds

BUILT_IN: Mapping[str, str] = {
    "registry": "skillyard.install.sources.registry_file",
    "skills.sh": "skillyard.install.sources.skills_sh",
    "github": "skillyard.install.sources.github",
    "well-known": "skillyard.install.sources.well_known",
}
"""The module of each remote source. All are enabled unless the settings list others."""

LOCAL = "local"
"""The source over the caller's catalog; not a remote."""

GITHUB_TOKENS = ("GITHUB_TOKEN", "GH_TOKEN")
OFFLINE = "SKILLYARD_OFFLINE"

_ALL = tuple(BUILT_IN)
"""Compared by identity: a list that names the same sources is a choice."""
_PLACES = {"registry": "registry_files", "github": "repositories", "well-known": "sites"}
"""Source -> the setting with the places that it queries."""


def _url(text: str) -> str:
    from skillyard.install.sources.transport import origin_of

    origin_of(text)
    return text


def _base(text: str) -> str:
    return _url(text).rstrip("/")


def _repository(text: str) -> str:
    from skillyard.install.sources.repository import is_repository

    if not is_repository(text):
        raise InvalidInput(f"has {text!r}, which is not owner/repo")
    return text


def _token(text: str) -> str:
    token = text.strip()
    if not token.isascii() or not token.isprintable():
        raise InvalidInput("holds a character that no header may")
    return token


Address = Annotated[str, _url]
Base = Annotated[str, _base]
Token = Annotated[str, _token]
Path = Annotated[str, os.path.expanduser]


class Settings(NamedTuple):
    """The settings of remote search."""

    enabled: tuple[str, ...] = _ALL
    """Sources that are queried when a search names none. Sources without anything to query are
    skipped."""
    skills_sh_url: Base = "https://skills.sh"
    """The address of skills.sh, or of a mirror."""
    skills_sh_token: Token = ""
    """The token of skills.sh."""
    github_api_url: Base = "https://api.github.com"
    """The address of GitHub's API."""
    github_raw_url: Base = "https://raw.githubusercontent.com"
    """The address of the files of GitHub's repositories."""
    github_git_url: str = ""
    """Where git finds the repositories of GitHub when its API denies them (default: github.com for
    GitHub's own API, nowhere for another one)."""
    github_token: Token = ""
    """The token of GitHub; ``GITHUB_TOKEN`` and ``GH_TOKEN`` go before it."""
    git_hosts: tuple[str, ...] = ()
    """Hosts, or beginnings of addresses, that a lock file may name for git."""
    repositories: tuple[Annotated[str, _repository], ...] = ()
    """Repositories to search, as ``owner/repo``."""
    registry_files: tuple[Path, ...] = ()
    """The user's registry files, in addition to the bundled one."""
    shipped_registry: bool = True
    """Whether the bundled registry file is searched."""
    sites: tuple[Address, ...] = ()
    """Sites with a well-known index, as ``skillyard serve`` has one."""
    over_fetch_floor: Annotated[int, Bounds(0)] = 15
    """Each source is queried for twice the limit, and for at least this many skills."""
    source_timeout_s: Annotated[float, Bounds(above=0, most=1e9)] = 10.0
    """Time limit for the search of one source."""
    ranker: str = "hybrid"
    """The scorer that ranks what the sources found."""
    cache_bytes: Annotated[int, Bounds(0)] = 256 * 1024 * 1024
    """Size of the cache of remote answers."""
    cache_days: Annotated[float, Bounds(0, 1e9)] = 30.0
    """Age at which an answer leaves the cache."""
    offline: bool = False
    """Answer from the cache only; ``SKILLYARD_OFFLINE`` goes before it."""
    host_tokens: Mapping[str, Token] = {}
    """Host, or ``host:port`` -> its token: of sites and archives. Such a host may be in a
    private network."""

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every token, to be removed from logs and messages."""
        own = (getattr(self, name) for name in self._fields if name.endswith("_token"))
        return (*own, *self.host_tokens.values())

    @property
    def named(self) -> tuple[str, ...]:
        """The sources that somebody named: ``enabled`` where it is set, else each with a place.

        A service asks these without ``--remote``.
        """
        if self.enabled is not _ALL:
            return self.enabled
        return tuple(name for name, field in _PLACES.items() if getattr(self, field))


def load_settings() -> Settings:
    """Return the settings of the user's file, overridden by the environment.

    Raises SkillIoError for a named file that cannot be read, InvalidInput for an invalid setting.
    """
    project_toml("sources", project_folders("."))  # says that a project has no such section
    settings = read_section("sources", Settings)
    switch = os.environ.get(OFFLINE, "").strip().lower()
    if switch:
        settings = settings._replace(offline=switch not in ("0", "no", "off", "false"))
    for name in GITHUB_TOKENS:
        text = os.environ.get(name, "")
        if text:
            try:
                return settings._replace(github_token=_token(text))
            except InvalidInput as error:
                raise InvalidInput(f"the token in {name} {error}") from None
    return settings
