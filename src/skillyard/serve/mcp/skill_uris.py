"""The skills that the extension serves, and their URIs (SEP-2640, "Resource Mapping").

A skill's URI is ``skill://<path>/SKILL.md``, and its last segment is the skill's name. A skill with
a unique name has no other segment. Skills that share a name get the parent folders that distinguish
them, so that an added skill does not change the meaning of a URI. A skill inside another's folder
is below that one's URI. The folders of a stored skill are its tenant, namespace, source, and its
place without its name; it is in no other skill's folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote, unquote

from skillyard.engine.skill import Origin, Skill
from skillyard.serve.runtime.snapshot import Snapshot
from skillyard.store.node.records import key_at

SCHEME = "skill://"
SKILL_FILE = "SKILL.md"
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
NAME_CHARS = 64
URI_CHARS = 4_096
DESCRIPTION_CHARS = 1_024


class SkillUris(NamedTuple):
    """The skills of a snapshot by the URI of their folder, and why others have none."""

    by_root: Mapping[str, Skill]
    """Sorted by URI."""
    roots: Mapping[str, str]
    """The inverse mapping: by path of the skill's file."""
    refused: Mapping[str, str]
    """By path: why the extension does not serve a skill, which the tools do serve."""

    def root_of(self, uri: str) -> str | None:
        """Return the innermost skill folder that contains a URI; None without one."""
        if not uri.startswith(SCHEME) or len(uri) > URI_CHARS:
            return None
        at = len(uri)
        while at > len(SCHEME):
            if uri[:at] in self.by_root:
                return uri[:at]
            at = uri.rfind("/", len(SCHEME), at)
        return None


def segment(text: str) -> str:
    """Return a file or folder name as one segment of a URI."""
    return quote(text, safe="!$&'()*+,;=@~")  # RFC 3986's pchar without the colon


def below(root: str, uri: str) -> str | None:
    """Return the path of a URI inside a skill's folder; None for a non-canonical spelling.

    Each file has one URI. Another spelling that decodes to the same path is invalid.
    """
    if not uri.startswith(root + "/"):
        return None
    rest = uri[len(root) + 1 :]
    try:
        parts = [unquote(part, errors="strict") for part in rest.split("/")]
    except UnicodeDecodeError:
        return None
    if any(part in ("", ".", "..") or "/" in part for part in parts):
        return None
    return "/".join(parts) if "/".join(map(segment, parts)) == rest else None


def uris_of(snapshot: Snapshot) -> SkillUris:
    """Return the skills of a snapshot that the extension serves."""
    return snapshot.cached("skill uris", lambda: _assign_uris(snapshot))


def _assign_uris(snapshot: Snapshot) -> SkillUris:
    refused: dict[str, str] = {}
    skills: list[Skill] = []
    for skill in snapshot.whole.candidates:
        why = _unfit(skill)
        if why:
            refused[skill.path] = why
        elif skill.origin != Origin.CONVENTION:
            skills.append(skill)
    folders = {folder: skill for skill in skills if (folder := own_folder(skill))}
    above = {skill.path: _enclosing(skill, folders) for skill in skills}
    by_name: dict[str, list[Skill]] = {}
    for skill in skills:
        if not above[skill.path]:
            by_name.setdefault(skill.name, []).append(skill)
    roots: dict[str, str] = {}
    for name, group in by_name.items():
        roots |= (
            {group[0].path: SCHEME + name} if len(group) == 1 else _distinct_uris(snapshot, group)
        )
    inner = [skill for skill in skills if above[skill.path]]
    for skill in sorted(inner, key=lambda each: each.path.count("/")):
        outer = roots.get(folders[above[skill.path]].path)
        rest = own_folder(skill)[len(above[skill.path]) + 1 :]
        if outer is None or rest.rpartition("/")[2] != skill.name:
            refused[skill.path] = "it lies in another skill's folder, in one not of its own name"
            continue
        roots[skill.path] = outer + "/" + "/".join(map(segment, rest.split("/")))
    by_root = {roots[skill.path]: skill for skill in skills if skill.path in roots}
    return SkillUris(dict(sorted(by_root.items())), roots, refused)


def own_folder(skill: Skill) -> str:
    """Return the folder of a skill, as in its path; empty for a document.

    A stored skill has no folder on this machine, regardless of its place.
    """
    if skill.stored:
        return ""
    folder, _, name = skill.path.replace("\\", "/").rpartition("/")
    return folder or "." if name.lower() == "skill.md" else ""


def _unfit(skill: Skill) -> str:
    if not skill.path:
        return "it comes from no file"
    if not _NAME.fullmatch(skill.name) or len(skill.name) > NAME_CHARS:
        return "its name is not one that agentskills.io allows (a-z, 0-9 and single hyphens)"
    if not skill.description.strip() or len(skill.description) > DESCRIPTION_CHARS:
        return f"its description is empty or longer than {DESCRIPTION_CHARS:,} characters"
    return ""


def _enclosing(skill: Skill, folders: Mapping[str, Skill]) -> str:
    """Return the nearest skill folder above a skill's own, else an empty text."""
    folder = os.path.dirname(own_folder(skill) or skill.path.replace("\\", "/"))
    while folder and folder not in folders:
        folder = folder.rpartition("/")[0]
    return folder


def _distinct_uris(snapshot: Snapshot, group: list[Skill]) -> dict[str, str]:
    """Return a URI for each of several skills of one name, from the folders above them."""
    uri_by_path: dict[str, str] = {}
    roots: set[str] = set()
    for skill in sorted(group, key=lambda each: each.path):
        folders = _store_folders(skill) if skill.stored else _folders(snapshot, skill)
        root = SCHEME + "/".join([*map(segment, folders), skill.name])
        number = 1
        while root in roots:  # two roots may contain the same folders
            number += 1
            root = SCHEME + "/".join([*map(segment, folders), str(number), skill.name])
        roots.add(root)
        uri_by_path[skill.path] = root
    return uri_by_path


def _folders(snapshot: Snapshot, skill: Skill) -> list[str]:
    folders = snapshot.path_below_root(skill.path).split("/")[:-1]
    return folders[:-1] if own_folder(skill) else folders


def _store_folders(skill: Skill) -> list[str]:
    """Return the names that replace the folders above a stored skill."""
    key = key_at(skill.path)
    place = key.place.split("/")
    if place[-1] == skill.name:
        place.pop()
    parts = (key.tenant, *key.namespace.split("/"), *key.source.split("/"), *place)
    return [part for part in parts if part not in ("", ".", "..")]
