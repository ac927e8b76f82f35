"""A plugin of a marketplace that Claude Code knows on this machine → where its skill lies.

Manifests come from strangers: a path in them never leads out of its repository or folder, and an
address in them is one that a lock file could name as well.
"""

from __future__ import annotations

import os
import posixpath
from typing import Any

from skillyard.base.errors import InvalidInput, SkillNotFound
from skillyard.engine.discovery.hosts import expand_pattern
from skillyard.engine.discovery.manifests import (
    Problems,
    inner_folder,
    mapping_of,
    read_manifest,
    text_of,
    texts_of,
)
from skillyard.engine.discovery.plugins import CLAUDE_HOME, KNOWN_MARKETPLACES, MARKETPLACE
from skillyard.install.copies.file_paths import checked_path, shown_path
from skillyard.install.git.address import check_ref, parse_git_address
from skillyard.install.origins.target import GITLAB, HEAD, SkillTarget
from skillyard.install.sources.repository import is_repository

MAX_NAMED = 8


def plugin_target(target: SkillTarget) -> SkillTarget:
    """Return where the skill of a plugin lies: a repository, or a folder on this machine.

    Raises InvalidInput for a marketplace or plugin that is not known or lies elsewhere, and for a
    plugin with several skills where none is named.
    """
    home = expand_pattern(CLAUDE_HOME)
    listing = os.path.join(home, KNOWN_MARKETPLACES)
    known = read_manifest(listing, Problems())
    marketplace = mapping_of(known, target.marketplace)
    if not marketplace:
        names = ", ".join(map(shown_path, sorted(known)[:MAX_NAMED])) or "none"
        raise InvalidInput(
            f"Claude Code knows no marketplace {target.marketplace!r} (known: {names}); add it with"
            " `claude plugin marketplace add`, or write owner/repo@ref for a branch or tag"
        )
    place = text_of(marketplace, "installLocation")
    manifest = os.path.join(place, MARKETPLACE)
    offers = read_manifest(manifest, Problems()) if os.path.isabs(place) else {}
    plugins = offers.get("plugins")
    listed = plugins if isinstance(plugins, list) else []
    entries = [each for each in listed if isinstance(each, dict)]
    for entry in entries:
        if text_of(entry, "name") == target.name:
            base = text_of(mapping_of(offers, "metadata"), "pluginRoot")
            return _of_entry(target, entry, mapping_of(marketplace, "source"), place, base)
    offered = [f"{text_of(each, 'name')}@{target.marketplace}" for each in entries]
    raise SkillNotFound(f"{target.name}@{target.marketplace}", offered[:MAX_NAMED])


def _of_entry(
    target: SkillTarget, entry: dict[str, Any], marketplace: dict[str, Any], place: str, base: str
) -> SkillTarget:
    source = entry.get("source")
    if isinstance(source, str):
        relative = source if "/" in source or not base else f"{base}/{source}"
        path, skill = _skill_path(target, entry, _joined("", relative))
        origin = _origin(target, marketplace)
        if origin is None:  # a marketplace that is a folder
            return _in_folder(target, place, path, skill)
        return origin._replace(path=path, skill_id=skill)
    places = source if isinstance(source, dict) else {}
    origin = _origin(target, places)
    if origin is None:
        kind = text_of(places, "source") or "an unknown kind"
        raise InvalidInput(
            f"the plugin {target.name} comes from {shown_path(kind)}, which is not supported;"
            f" install it with `claude plugin install {target.name}@{target.marketplace}`"
        )
    path, skill = _skill_path(target, entry, _joined("", text_of(places, "path")))
    return origin._replace(path=path, skill_id=skill)


def _origin(target: SkillTarget, source: dict[str, Any]) -> SkillTarget | None:
    """Return the repository of a source of Claude Code's manifests; None for another kind."""
    ref = text_of(source, "sha") or text_of(source, "ref")
    repository, url = text_of(source, "repo"), text_of(source, "url")
    if text_of(source, "source") == "github" and is_repository(repository):
        return SkillTarget(kind="github", source=repository, ref=check_ref(ref) if ref else HEAD)
    if text_of(source, "source") in ("git", "url", "git-subdir") and url:
        address = parse_git_address(url)
        if address.scheme not in ("https", "ssh"):
            raise InvalidInput(
                f"the plugin {target.name} names {shown_path(url)}; only https and ssh are asked"
            )
        kind = GITLAB if address.host == "gitlab.com" and address.scheme == "https" else "git"
        ref = check_ref(ref) if ref else HEAD
        return SkillTarget(kind="git", address=address, source_type=kind, ref=ref)
    return None


def _skill_path(target: SkillTarget, entry: dict[str, Any], plugin: str) -> tuple[str, str]:
    """Return the folder that the skill lies in or below, and its name where one is needed."""
    listed = [_joined(plugin, each) for each in texts_of(entry, "skills")]
    if target.skill_id:
        for path in listed:
            if posixpath.basename(path) == target.skill_id:
                return path, ""
        return plugin, target.skill_id
    if len(listed) > 1:
        names = [f"{target.name}@{target.marketplace}#{posixpath.basename(p)}" for p in listed]
        some = ", ".join(map(shown_path, names[:MAX_NAMED]))
        more = ", …" if len(names) > MAX_NAMED else ""
        raise InvalidInput(
            f"the plugin {target.name} holds {len(names)} skills; name one: {some}{more}"
        )
    return (listed[0] if listed else plugin), ""


def _joined(base: str, relative: str) -> str:
    """Return a path of a manifest below another; empty for the root. Raises PathRefused."""
    path = posixpath.normpath(posixpath.join(base, relative or "."))
    return "" if path == "." else checked_path(path)


def _in_folder(target: SkillTarget, place: str, path: str, skill: str) -> SkillTarget:
    folder = inner_folder(place, path or ".", place, Problems())
    if folder is None:
        raise InvalidInput(f"the plugin {target.name} is not in {shown_path(place)}")
    return SkillTarget(kind="folder", path=folder, skill_id=skill)
