"""The settings of remote search: one TOML file, overridden by environment variables.

The file is ``$SKILLYARD_CONFIG``, else ``skillyard/config.toml`` in the user's configuration
folder. Tokens come from the environment only, and are sent only to their own host.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.base.io.files import read_regular
from skillyard.base.io.user_folders import config_folder
from skillyard.install.sources.host_tokens import host_tokens
from skillyard.install.sources.registry import BUILT_IN

GITHUB_TOKENS = ("SKILLYARD_GITHUB_TOKEN", "GITHUB_TOKEN", "GH_TOKEN")
SKILLS_SH_TOKEN = "SKILLYARD_SKILLS_SH_TOKEN"
MAX_SECONDS = 1e9
"""Upper limit for seconds and days; it excludes infinity and NaN."""


_ALL = tuple(BUILT_IN)
"""Compared by identity: a list that names the same sources is a choice."""
_PLACES = {
    "registry": "registry_files",
    "github": "repositories",
    "well-known": "sites",
    "servers": "servers",
}
"""Source -> the setting with the places that it queries."""


class Settings(NamedTuple):
    """The settings of remote search."""

    enabled: tuple[str, ...] = _ALL
    """Sources that are queried when a search names none. Sources without anything to query are
    skipped."""
    skills_sh_url: str = "https://skills.sh"
    skills_sh_token: str = ""
    github_api_url: str = "https://api.github.com"
    github_raw_url: str = "https://raw.githubusercontent.com"
    github_git_url: str = ""
    """Where git finds the repositories of GitHub when its API denies them (default: github.com for
    GitHub's own API, nowhere for another one)."""
    github_token: str = ""
    git_hosts: tuple[str, ...] = ()
    """Hosts, or beginnings of addresses, that a lock file may name for git."""
    repositories: tuple[str, ...] = ()
    """Repositories to search, as ``owner/repo``."""
    registry_files: tuple[str, ...] = ()
    """The user's registry files, in addition to the bundled one."""
    shipped_registry: bool = True
    sites: tuple[str, ...] = ()
    """Sites with a well-known index."""
    servers: tuple[str, ...] = ()
    """Other skillyard servers."""
    over_fetch_floor: int = 15
    """Each source is queried for twice the limit, and for at least this many skills."""
    source_timeout_s: float = 10.0
    """Time limit for the search of one source."""
    ranker: str = "hybrid"
    cache_bytes: int = 256 * 1024 * 1024
    cache_days: float = 30.0
    offline: bool = False
    archive_bundles: bool = False
    """Whether the signature beside an archive is fetched with it: not a setting, a policy says."""
    host_tokens: Mapping[str, str] = {}
    """Tokens of other hosts, by variable (``host_tokens.py``)."""

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


_KEYS: Mapping[tuple[str, ...], tuple[str, type | tuple[type, ...]]] = {
    ("sources", "enabled"): ("enabled", list),
    ("sources", "skills_sh", "url"): ("skills_sh_url", str),
    ("sources", "github", "api_url"): ("github_api_url", str),
    ("sources", "github", "raw_url"): ("github_raw_url", str),
    ("sources", "github", "git_url"): ("github_git_url", str),
    ("sources", "github", "repositories"): ("repositories", list),
    ("sources", "git", "hosts"): ("git_hosts", list),
    ("sources", "registry", "files"): ("registry_files", list),
    ("sources", "registry", "shipped"): ("shipped_registry", bool),
    ("sources", "well_known", "sites"): ("sites", list),
    ("sources", "servers", "urls"): ("servers", list),
    ("search", "over_fetch_floor"): ("over_fetch_floor", int),
    ("search", "source_timeout_s"): ("source_timeout_s", (int, float)),
    ("search", "ranker"): ("ranker", str),
    ("cache", "max_bytes"): ("cache_bytes", int),
    ("cache", "max_age_days"): ("cache_days", (int, float)),
    ("cache", "offline"): ("offline", bool),
}

_ENVIRONMENT = {
    "SKILLYARD_SOURCES": "enabled",
    "SKILLYARD_SKILLS_SH_URL": "skills_sh_url",
    "SKILLYARD_GITHUB_API_URL": "github_api_url",
    "SKILLYARD_GITHUB_RAW_URL": "github_raw_url",
    "SKILLYARD_GITHUB_GIT_URL": "github_git_url",
    "SKILLYARD_GITHUB_REPOSITORIES": "repositories",
    "SKILLYARD_GIT_HOSTS": "git_hosts",
    "SKILLYARD_WELL_KNOWN_URL": "sites",
    "SKILLYARD_SERVERS": "servers",
    "SKILLYARD_OFFLINE": "offline",
    SKILLS_SH_TOKEN: "skills_sh_token",
}
"""Lists are separated by commas."""

VARIABLES = frozenset({*_ENVIRONMENT, *GITHUB_TOKENS, "SKILLYARD_CONFIG"})
"""The environment variables that are read here."""


def config_path(environment: Mapping[str, str] | None = None) -> str:
    """Return the path of the settings file, which need not exist."""
    environment = os.environ if environment is None else environment
    path = environment.get("SKILLYARD_CONFIG")
    if path:
        return path
    folder = config_folder(environment.get("XDG_CONFIG_HOME", ""))
    return os.path.join(folder, "config.toml")


def load_settings(
    path: str | None = None, environment: Mapping[str, str] | None = None
) -> Settings:
    """Return the settings of the file, if it exists, overridden by the environment.

    Raises SkillIoError for a named file that cannot be read, InvalidInput for an invalid setting.
    """
    environment = os.environ if environment is None else environment
    path = config_path(environment) if path is None else path
    changes = _from_file(path, must_exist=bool(environment.get("SKILLYARD_CONFIG")))
    for name, field in _ENVIRONMENT.items():
        if environment.get(name):
            changes[field] = _from_text(field, environment[name])
    for name in GITHUB_TOKENS:
        if environment.get(name):
            changes["github_token"] = environment[name].strip()
            break
    changes["host_tokens"] = host_tokens(environment)
    return _check(Settings(**changes), path)


def _from_text(field: str, text: str) -> Any:
    default = Settings._field_defaults[field]
    if isinstance(default, bool):
        return text.strip().lower() not in ("", "0", "no", "off", "false")
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text.strip()


_MAX_BYTES = 1 << 20


def _from_file(path: str, *, must_exist: bool) -> dict[str, Any]:
    import tomllib

    try:
        data, _ = read_regular(path, _MAX_BYTES, follow=True)
        document = tomllib.loads(data.decode("utf-8"))
    except FileNotFoundError:
        if must_exist:
            raise SkillIoError("there are no settings here", path=path) from None
        return {}
    except OSError as error:
        what = error.strerror or str(error)
        hint = "make it a regular file that you can read"
        message = f"the settings cannot be read: {what}"
        raise SkillIoError(message, path=path, hint=hint) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: {error}") from None
    return _fields(document, (), path)


def _fields(table: Mapping[str, Any], place: tuple[str, ...], path: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in table.items():
        here = (*place, key)
        if here in _KEYS:
            field, kind = _KEYS[here]
            wrong = not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)
            if wrong or (kind is list and not all(isinstance(item, str) for item in value)):
                raise InvalidInput(f"{path}: {'.'.join(here)} is of the wrong type")
            values[field] = tuple(value) if kind is list else value
        elif isinstance(value, Mapping) and any(known[: len(here)] == here for known in _KEYS):
            values |= _fields(value, here, path)
        else:
            known = ", ".join(sorted(".".join(key) for key in _KEYS))
            raise InvalidInput(f"{path}: no setting {'.'.join(here)}; known: {known}")
    return values


def _check(settings: Settings, path: str) -> Settings:
    from skillyard.install.sources.repository import is_repository
    from skillyard.install.sources.transport import origin_of

    for url in (
        settings.skills_sh_url,
        settings.github_api_url,
        settings.github_raw_url,
        *settings.sites,
        *settings.servers,
    ):
        origin_of(url)
    for repository in settings.repositories:
        if not is_repository(repository):
            raise InvalidInput(f"{path}: {repository!r} is not owner/repo")
    if settings.over_fetch_floor < 0 or not 0 < settings.source_timeout_s < MAX_SECONDS:
        raise InvalidInput(f"{path}: over_fetch_floor is at least 0, source_timeout_s above 0")
    if settings.cache_bytes < 0 or not 0 <= settings.cache_days < MAX_SECONDS:
        raise InvalidInput(f"{path}: cache.max_bytes and cache.max_age_days are at least 0")
    for variable, token in (
        (" or ".join(GITHUB_TOKENS), settings.github_token),
        (SKILLS_SH_TOKEN, settings.skills_sh_token),
    ):
        if not token.isascii() or not token.isprintable():
            raise InvalidInput(f"the token in {variable} holds a character that no header may")
    trimmed = {
        name: getattr(settings, name).rstrip("/")
        for name in ("skills_sh_url", "github_api_url", "github_raw_url")
    }
    files = tuple(os.path.expanduser(file) for file in settings.registry_files)
    return settings._replace(**trimmed, registry_files=files)
