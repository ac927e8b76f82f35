"""What ``add`` and the commands of ``cache`` write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from skillyard.base.shapes import Schema
from skillyard.base.shapes.installation import Signature
from skillyard.base.shapes.scans import ScanFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledForUser:
    """The entry of another installer's lock for a skill of the same name."""

    tool: Annotated[str, "The installer."]
    lock: Annotated[str, "Its lock."]
    source: Annotated[str, "Where the skill is from."]
    ref: Annotated[str | None, "The branch or tag."]
    commit: Annotated[str | None, "The commit."]
    folder_hash: Annotated[str | None, "The tree of its folder."]
    installed_at: Annotated[str | None, "When it was installed."]
    updated_at: Annotated[str | None, "When it was updated."]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableLock:
    """Another installer's lock that cannot be read."""

    tool: Annotated[str, "The installer."]
    lock: Annotated[str, "Its lock."]
    problem: Annotated[str, "Why it cannot be read."]


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
        str,
        "fetched, or what became of its folder: added, replaced, unchanged, or restored (a stopped"
        " run had moved it aside).",
    ]
    digest: Annotated[str | None, "Names the content of the folder."]
    copies: Annotated[tuple[str, ...], "Where else it was installed."]
    links: Annotated[tuple[str, ...], "Links to it in the folders of agent hosts."]
    dry_run: Annotated[bool, "Nothing was written; the rest says what would be."]
    notes: Annotated[tuple[str, ...], "What to know of how the files came."]
    lock: Annotated[str | None, "The lock file that pins it."]
    installed: Annotated[
        Mapping[str, Any] | None, "Another installer's skill of that name, or why it is not known."
    ]
    findings: Annotated[tuple[ScanFinding, ...], "Findings of the scan that nobody accepted."]
    signature: Annotated[Signature | None, "Who signed it, where the signature is checked."]
