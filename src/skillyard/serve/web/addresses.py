"""The addresses of the pages, and the command that installs a skill."""

from __future__ import annotations

import re
from collections.abc import Iterable
from shlex import quote as shell_quote
from urllib.parse import quote, urlencode

from skillyard.base.text import clean_line
from skillyard.install.sources.protocol import Hit
from skillyard.install.sources.repository import is_repository
from skillyard.install.sources.settings import LOCAL

HOME = "/"
SKILLS = "/page/skills"
MAX_CHARACTERS = 4_000
"""Bytes of an address that every browser and proxy accepts."""
"""A skill's page has the address of its data, ``/skills/{source}/{id}``, below ``/page``. Each
follows from the other, and no skill's name can collide with a route."""

_DOMAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?(?::[0-9]{1,5})?")


def search_address(
    query: str, *, sources: Iterable[str] = (), scorer: str = "", limit: int | None = None
) -> str:
    """Return the address of a search's page; parameters that are left out have their defaults."""
    pairs = [("q", query), *(("source", name) for name in sources)]
    pairs += [("scorer", scorer)] if scorer else []
    pairs += [("limit", str(limit))] if limit is not None else []
    return f"{HOME}?{_query_string(pairs)}"


def skill_address(source: str, skill_id: str, **values: str) -> str | None:
    """Return the address of a skill's page; None when no address can name it.

    Empty values are left out, and so is a request ``q`` that is too long for an address.
    """
    if not source or skill_id in ("", ".", "..") or "/" in skill_id:
        return None
    if any(part in ("", ".", "..") for part in source.split("/")):
        return None
    path = "/".join(
        (SKILLS, quote(source, "/", errors="replace"), quote(skill_id, "", errors="replace"))
    )
    pairs = [(name, value) for name, value in values.items() if value]
    whole = f"{path}?{_query_string(pairs)}" if pairs else path
    if len(whole) <= MAX_CHARACTERS or not values.get("q"):
        return whole
    return skill_address(source, skill_id, **{**values, "q": ""})


def local_address(skill_id: str, query: str = "", scorer: str = "") -> str | None:
    """Return the address of the page of a skill of the catalog."""
    return skill_address(LOCAL, skill_id, q=query, scorer=scorer)


def place_of(hit: Hit) -> str:
    """Return the source under which the service finds a hit again."""
    return LOCAL if hit.found_by == LOCAL else hit.source


def install_line(hit: Hit) -> str:
    """Return the command that installs a skill, safe to paste into a shell, or an empty text.

    Ids are untrusted: shell characters are quoted, and ids with invisible characters have no
    command.
    """
    if is_repository(hit.source):
        target = f"{hit.source}/{hit.id}"
    elif hit.source != LOCAL and "." in hit.source and _DOMAIN.fullmatch(hit.source):
        target = f"https://{hit.source}#{hit.id}"
    else:
        return ""
    if not hit.id or hit.id in (".", "..") or "/" in hit.id or clean_line(target) != target:
        return ""
    return f"skillyard add {shell_quote(target)}"


def _query_string(pairs: Iterable[tuple[str, str]]) -> str:
    return urlencode(list(pairs), errors="replace")
