"""What a user names to add a skill: a name, ``owner/repo``, ``owner/repo/id`` or an address."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from skillyard.errors import InvalidInput
from skillyard.remote.install.file_paths import checked_path, shown_path
from skillyard.remote.sources.github import is_repository

__all__ = ["Target", "parse_target"]


class Target(NamedTuple):
    """The parsed target of an ``add``."""

    source: str = ""
    skill_id: str = ""
    name: str = ""
    site: str = ""
    ref: str = "HEAD"


def parse_target(target: str) -> Target:
    """Return what a target means. Raises InvalidInput."""
    text = target.strip()
    if "://" in text:
        return _address(text)
    parts = text.strip("/").split("/")
    if len(parts) == 2 and is_repository(text):
        return Target(source=text)
    if len(parts) > 2 and is_repository("/".join(parts[:2])):
        checked_path(text)
        return Target(source="/".join(parts[:2]), skill_id=parts[-1])
    if not text or "/" in text:
        raise InvalidInput(
            f"{shown_path(target)!r} names no skill: write a name, owner/repo, owner/repo/id or an"
            " address"
        )
    return Target(name=text)


def _address(text: str) -> Target:
    parts = urlsplit(text)
    path = [part for part in parts.path.split("/") if part]
    if parts.hostname in ("github.com", "www.github.com") and len(path) >= 2:
        source = f"{path[0]}/{path[1].removesuffix('.git')}"
        if not is_repository(source):
            raise InvalidInput(f"{source} is not owner/repo")
        ref = path[3] if len(path) > 3 and path[2] in ("tree", "blob") else "HEAD"
        below = [part for part in path[4:] if part != "SKILL.md"]
        return Target(source=source, skill_id=below[-1] if below else "", ref=ref)
    if parts.hostname in ("skills.sh", "www.skills.sh") and len(path) >= 2:
        return Target(source="/".join(path[:2]), skill_id=path[2] if len(path) > 2 else "")
    if parts.scheme != "https":
        raise InvalidInput("only https addresses are asked")
    return Target(site=text.partition("#")[0].rstrip("/"), skill_id=parts.fragment)
