"""Sources by name: those of the settings, and those of installed packages."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillyard.errors import InvalidInput, UnknownName
from skillyard.remote.sources.github import GitHub, GitHubSource
from skillyard.remote.sources.protocol import Source
from skillyard.remote.sources.registry_file import RegistryFile, shipped_registry
from skillyard.remote.sources.responses import ResponseCache
from skillyard.remote.sources.settings import BUILT_IN, GITHUB_TOKENS, SKILLS_SH_TOKEN, Settings
from skillyard.remote.sources.skills_sh import SkillsSh
from skillyard.remote.sources.transport import Host, Transport
from skillyard.remote.sources.well_known import WellKnown

if TYPE_CHECKING:
    from skillyard.catalog import Catalog

__all__ = ["build_sources", "build_transport", "response_cache", "source_names"]

ENTRY_POINT_GROUP = "skillyard.sources"
FILES_AT_ONCE = 64
"""Twenty skills with their references in one trip; these are plain files, and cost no quota."""
GITHUB_VERSION = {"X-GitHub-Api-Version": "2022-11-28"}


def response_cache(settings: Settings) -> ResponseCache:
    """Return the cache of remote answers in the user's cache folder."""
    from skillyard.index.library_spec import cache_folder

    return ResponseCache(
        os.path.join(cache_folder(), "remote"),
        most_bytes=settings.cache_bytes,
        oldest_s=settings.cache_days * 24 * 3600,
    )


def build_transport(settings: Settings, cache: ResponseCache | None = None) -> Transport:
    """Return the transport to the hosts that the settings name."""
    hosts = {
        "skills.sh": Host(
            settings.skills_sh_url,
            token=settings.skills_sh_token,
            token_variables=(SKILLS_SH_TOKEN,),
        ),
        "github-api": Host(
            settings.github_api_url,
            GITHUB_VERSION,
            settings.github_token,
            token_variables=GITHUB_TOKENS,
        ),
        "github-raw": Host(
            settings.github_raw_url,
            token=settings.github_token,
            token_variables=GITHUB_TOKENS,
            at_once=FILES_AT_ONCE,
        ),
    }
    hosts |= {f"site:{url}": Host(url.rstrip("/")) for url in settings.sites}
    hosts |= {f"server:{url}": Host(url.rstrip("/")) for url in settings.servers}
    return Transport(hosts, cache, offline=settings.offline)


def source_names() -> tuple[str, ...]:
    """Return the names that can be switched on."""
    return (*BUILT_IN, *sorted(_entry_points()))


def build_sources(
    settings: Settings,
    transport: Transport,
    names: Sequence[str] | None = None,
    catalog: Catalog | None = None,
) -> list[Source]:
    """Return the sources of the names (default: the enabled ones), in that order, each once.

    A package's source is what its entry point gives for ``(settings, transport)``. Raises
    UnknownName, InvalidInput for ``local`` without a catalog, SkillIoError for a registry file.
    """
    github = GitHub(transport)
    makers: Mapping[str, Callable[[], list[Source]]] = {
        "registry": lambda: [RegistryFile(github, _files(settings))],
        "skills.sh": lambda: [SkillsSh(transport, github)],
        "github": lambda: (
            [GitHubSource(github, settings.repositories)] if settings.repositories else []
        ),
        "well-known": lambda: [WellKnown(transport, settings.sites)] if settings.sites else [],
        "servers": lambda: _servers(settings, transport),
        "local": lambda: _local(catalog),
    }
    found: list[Source] = []
    others: dict[str, Any] | None = None
    for name in dict.fromkeys(settings.enabled if names is None else names):
        if name in makers:
            found += makers[name]()
            continue
        others = _entry_points() if others is None else others
        if name not in others:
            raise UnknownName("source", name, source_names())
        found.append(_from_package(name, others[name](), settings, transport))
    return found


def _from_package(name: str, make: Any, settings: Settings, transport: Transport) -> Source:
    made = make(settings, transport)
    if not isinstance(made, Source):
        raise InvalidInput(f"{name} gives {type(made).__name__}, which is no source")
    return made


def _files(settings: Settings) -> list[str]:
    shipped = [shipped_registry()] if settings.shipped_registry else []
    return [*settings.registry_files, *shipped]


def _servers(settings: Settings, transport: Transport) -> list[Source]:
    from skillyard.remote.sources.server import ServerSource

    return [ServerSource(transport, url) for url in settings.servers]


def _local(catalog: Catalog | None) -> list[Source]:
    if catalog is None:
        raise InvalidInput("the source `local` needs a catalog: name a root")
    from skillyard.remote.sources.local import LocalSource

    return [LocalSource(catalog)]


def _entry_points() -> dict[str, Callable[[], Any]]:
    from importlib.metadata import entry_points

    return {point.name: point.load for point in entry_points(group=ENTRY_POINT_GROUP)}
