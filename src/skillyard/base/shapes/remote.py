"""What ``add`` and the commands of ``cache`` write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from skillyard.base.shapes import Schema
from skillyard.base.shapes.installation import Signature
from skillyard.base.shapes.scans import ScanFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """One fetched skill, and where it was written."""

    schema: Schema[Literal["skillyard.add/1"]] = "skillyard.add/1"
    skill: Annotated[Mapping[str, Any], "The skill, as a search document holds it."]
    files: Annotated[tuple[str, ...], "Its files."]
    skipped: Annotated[tuple[str, ...], "Files that were left out, each with the reason."]
    look_alikes: Annotated[tuple[str, ...], "Names of installed skills that look like its own."]
    folder: Annotated[str | None, "Where it was installed."]
    state: Annotated[
        str, "fetched, or what became of its folder: added, replaced, unchanged or linked."
    ]
    digest: Annotated[str | None, "Names the content of the folder."]
    copies: Annotated[tuple[str, ...], "Where else it was installed."]
    links: Annotated[tuple[str, ...], "Links to it in the folders of agent hosts."]
    dry_run: Annotated[bool, "Nothing was written; the rest says what would be."]
    notes: Annotated[tuple[str, ...], "What to know of how the files came."]
    lock: Annotated[str | None, "The lock file that pins it."]
    findings: Annotated[tuple[ScanFinding, ...], "Findings of the scan that nobody accepted."]
    signature: Annotated[Signature | None, "Who signed it, where the signature is checked."]
