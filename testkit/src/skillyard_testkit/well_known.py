"""A site that publishes skills at ``/.well-known``: the index of 0.2.0 or 0.1.0, and its files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import quote

from skillyard.base.errors import InvalidInput
from skillyard_testkit.archives import MEDIA_TYPES, pack
from skillyard_testkit.messages import (
    JSON,
    Request,
    Response,
    conditional_response,
    etag_of,
    text_response,
)
from skillyard_testkit.site import Site
from skillyard_testkit.switches import Switches

__all__ = ["PublishedSkill", "WellKnown", "make_published_skill"]

OLD_VERSION = "0.1.0"
_SCHEMA = "https://schemas.agentskills.io/discovery/{}/schema.json"
_MARKDOWN = "text/markdown; charset=utf-8"
_DESCRIPTION = re.compile(rb"^description:[ \t]*(\S[^\r\n]*)", re.MULTILINE)


class PublishedSkill(NamedTuple):
    """One skill of the site."""

    name: str
    description: str
    files: Mapping[str, bytes]
    kind: str
    """``skill-md`` or ``archive``."""
    place: str
    """Where the artifact lies, relative to the index."""
    artifact: bytes
    fields: Mapping[str, Any]
    """Laid over the entry of the index."""


def make_published_skill(
    name: str,
    files: Mapping[str, bytes],
    kind: str,
    *,
    ending: str,
    description: str | None,
    artifact: bytes | None,
    fields: Mapping[str, Any],
) -> PublishedSkill:
    """Return a skill to publish. Raises InvalidInput for an unknown kind, or without SKILL.md.

    The description defaults to the one of SKILL.md, if that is on a single line.
    """
    if kind not in ("skill-md", "archive"):
        raise InvalidInput(f"no kind {kind!r}: give skill-md or archive, and fields to change it")
    if artifact is None and "SKILL.md" not in files:
        raise InvalidInput(f"{name}: give a file SKILL.md, or the bytes of an artifact")
    if description is None:
        line = _DESCRIPTION.search(files.get("SKILL.md", b""))
        declared = line[1].decode("utf-8", "replace").strip() if line else ""
        description = declared.strip("\"'") or f"The skill {name}."
    if kind == "archive":
        place = f"{name}.{ending}"
        data = pack(files, ending) if artifact is None else artifact
    else:
        place = f"{name}/SKILL.md"
        data = files["SKILL.md"] if artifact is None else artifact
    return PublishedSkill(name, description, files, kind, place, data, fields)


class WellKnown(Site):
    """A site that follows the discovery draft, with the headers that it requires."""

    name = "well_known"

    def __init__(self, switches: Callable[[], Switches]) -> None:
        super().__init__(switches)
        self._lock = Lock()
        self._published: dict[str, PublishedSkill] = {}

    def add(self, skill: PublishedSkill) -> None:
        """Publish a skill, or replace it."""
        with self._lock:
            self._published[skill.name] = skill

    def respond(self, request: Request) -> Response:
        """Return the index or a file with its entity tag, or 304 when the client has it."""
        base = self.switches.well_known_base.strip("/")
        base_parts = tuple(base.split("/")) if base else ()
        old = self.switches.well_known_version == OLD_VERSION
        root = (*base_parts, ".well-known", "skills" if old else "agent-skills")
        if request.parts[: len(root)] != root:
            return self.error(request, 404)
        place = "/".join(request.parts[len(root) :])
        if place == "index.json":
            content: tuple[bytes, str] | None = self._old_index() if old else self._index()
        else:
            content = self._old_file(place) if old else self._file(place)
        if content is None:
            return self.error(request, 404)
        response = text_response(content[0], kind=content[1]).with_headers(
            cache_control="public, max-age=300", access_control_allow_origin="*"
        )
        return conditional_response(request, response, etag_of(content[0]))

    def _all(self) -> list[PublishedSkill]:
        with self._lock:
            return list(self._published.values())

    def _index(self) -> tuple[bytes, str]:
        skills = [
            {
                "name": skill.name,
                "type": skill.kind,
                "description": skill.description,
                "url": quote(skill.place),
                "digest": f"sha256:{sha256(skill.artifact).hexdigest()}",
                **skill.fields,
            }
            for skill in self._all()
        ]
        schema = _SCHEMA.format(self.switches.well_known_version)
        return _rendered({"$schema": schema, "skills": skills})

    def _old_index(self) -> tuple[bytes, str]:
        skills = [
            {
                "name": skill.name,
                "description": skill.description,
                "files": sorted(skill.files, key=lambda path: (path != "SKILL.md", path)),
                **skill.fields,
            }
            for skill in self._all()
        ]
        return _rendered({"skills": skills})

    def _file(self, place: str) -> tuple[bytes, str] | None:
        for skill in self._all():
            if skill.place == place:
                kind = next(
                    (MEDIA_TYPES[end] for end in MEDIA_TYPES if place.endswith(f".{end}")),
                    _MARKDOWN,
                )
                return skill.artifact, kind
        return None

    def _old_file(self, place: str) -> tuple[bytes, str] | None:
        name, _, path = place.partition("/")
        skill = self._published.get(name)
        data = skill.files.get(path) if skill else None
        if data is None:
            return None
        return data, _MARKDOWN if path.endswith(".md") else "application/octet-stream"


def _rendered(document: dict[str, Any]) -> tuple[bytes, str]:
    text = json.dumps(document, ensure_ascii=False, indent=2)
    return text.encode("utf-8", "backslashreplace"), JSON
