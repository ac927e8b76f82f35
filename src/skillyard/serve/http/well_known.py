"""The well-known index of this catalog (discovery draft 0.2.0): skills that others may fetch."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from skillyard.base.shapes.encoder import encode
from skillyard.base.shapes.service import ListedSkill
from skillyard.install.sources.well_known import SCHEMA
from skillyard.serve.runtime.publication import Artifact, Publication
from skillyard.serve.runtime.snapshot import Snapshot

INDEX_PATH = "/.well-known/agent-skills/index.json"
SKILL_PATH = "/.well-known/agent-skills/{name}/SKILL.md"
ARCHIVE_PATH = "/.well-known/agent-skills/{name}.zip"
DESCRIPTION_UNITS = 1_024
"""Longest description that clients accept, in UTF-16 units, which JavaScript counts."""


def index_of(publication: Publication, snapshot: Snapshot) -> dict[str, Any]:
    """Return the index. Its addresses are relative to it."""
    entries = [_index_entry(artifact) for artifact in publication.artifacts(snapshot)]
    return {"$schema": SCHEMA, "skills": encode(entries)}


def _index_entry(artifact: Artifact) -> ListedSkill:
    name = quote(artifact.skill.name, safe="")
    return ListedSkill(
        name=artifact.skill.name,
        type="archive" if artifact.is_archive else "skill-md",
        description=_cut_description(artifact.skill.description),
        url=f"{name}.zip" if artifact.is_archive else f"{name}/SKILL.md",
        digest=f"sha256:{artifact.digest}",
    )


def _cut_description(text: str) -> str:
    units = text.encode("utf-16-le", "surrogatepass")[: 2 * DESCRIPTION_UNITS]
    return units.decode("utf-16-le", "ignore")
