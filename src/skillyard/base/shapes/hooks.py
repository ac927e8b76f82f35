"""What the commands of ``hook`` and ``trust`` write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Schema
from skillyard.base.shapes.details import AcceptedFinding, ScanFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallResult:
    """The result of installing or uninstalling in one settings file."""

    host: Annotated[str, "The agent host."]
    file: Annotated[str, "The settings file."]
    state: Annotated[str, "installed, updated or unchanged; removed or absent."]
    command: Annotated[str, "The shell command."]
    note: Annotated[str, "What the user has to do."]


@dataclass(frozen=True, slots=True, kw_only=True)
class HookInstalled:
    """What was installed."""

    schema: Schema[Literal["skillyard.hook-install/1"]] = "skillyard.hook-install/1"
    settings: Annotated[tuple[InstallResult, ...], "One for each host."]


@dataclass(frozen=True, slots=True, kw_only=True)
class HookUninstalled:
    """What was uninstalled."""

    schema: Schema[Literal["skillyard.hook-uninstall/1"]] = "skillyard.hook-uninstall/1"
    settings: Annotated[tuple[InstallResult, ...], "One for each host."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A skill that cannot be approved."""

    path: Annotated[str, "Its path in the project."]
    why: Annotated[str, "The reason."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """The approval of one project, and its difference from the previous one."""

    schema: Schema[Literal["skillyard.trust/1"]] = "skillyard.trust/1"
    project: Annotated[str, "The real path of the project."]
    state: Annotated[str, "approved, refused (by the scan), revoked or unknown."]
    since: Annotated[str | None, "The time of the approval, in UTC."]
    skills: Annotated[tuple[str, ...], "Paths in the project."]
    added: Annotated[tuple[str, ...], "Skills that were not approved before."]
    changed: Annotated[tuple[str, ...], "Skills with another content than before."]
    removed: Annotated[tuple[str, ...], "Approved skills that no longer exist."]
    refused: Annotated[tuple[Refusal, ...], "Skills that cannot be approved."]
    there: Annotated[bool, "False when the folder no longer exists."]
    findings: Annotated[tuple[ScanFinding, ...], "Findings of the scan that nobody accepted."]
    accepted: Annotated[tuple[AcceptedFinding, ...], "Findings that the approval accepts."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvals:
    """Every approved project."""

    schema: Schema[Literal["skillyard.trust-list/1"]] = "skillyard.trust-list/1"
    projects: Annotated[tuple[Approval, ...], "By path."]
