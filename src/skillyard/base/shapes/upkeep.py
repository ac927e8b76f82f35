"""What ``setup``, ``doctor``, ``policy``, ``completion`` and ``new`` write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from skillyard.base.shapes import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupStep:
    """One change of one file."""

    host: Annotated[str, "The agent host; empty for the usage log."]
    title: Annotated[str, "Its name for people."]
    what: Annotated[str, "hook, mcp or log."]
    file: Annotated[str, "The file."]
    state: Annotated[
        str, "planned, done, present, declined, refused or unavailable; undone, kept or absent."
    ]
    note: Annotated[str, "Why, or what the user has to do."] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupDone:
    """The agents of this machine, and what was changed for them."""

    schema: Schema[Literal["skillyard.setup/1"]] = "skillyard.setup/1"
    skills: Annotated[int, "The skills that a session of this folder has."]
    listings: Annotated[tuple[str, ...], "What each agent's own listing shows of them."]
    steps: Annotated[tuple[SetupStep, ...], "By agent."]
    request: Annotated[str, "The test request; empty without one."]
    chosen: Annotated[str, "The skill that it chose; empty for none."]
    answer: Annotated[str, "What the prompt hook answers to it."] = ""
    milliseconds: Annotated[int, "How long the hook took."] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check."""

    id: Annotated[str, "What was looked at."]
    status: Annotated[str, "ok, info, warning or error."]
    message: Annotated[str, "The result, as a sentence."]
    remedy: Annotated[str, "What to do; empty only where the status is ok."]
    command: Annotated[str, "The shell command that does it."]
    path: Annotated[str, "The file or folder that it is about."]
    line: Annotated[int | None, "1-based line in that file."]
    details: Annotated[Mapping[str, Any], "The facts behind the message."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The results of all checks."""

    schema: Schema[Literal["skillyard.doctor/1"]] = "skillyard.doctor/1"
    version: Annotated[str, "The version of skillyard."]
    findings: Annotated[tuple[Finding, ...], "In the order of the subjects."]
    counts: Annotated[Mapping[str, int], "The number of findings of each status."]

    @property
    def healthy(self) -> bool:
        """True when no finding is an error."""
        return not self.counts["error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """A rule in force."""

    rule: Annotated[str, "Its key."]
    value: Annotated[str, "What all files together set it to."]
    file: Annotated[str, "The file that sets it; the strictest where several do."]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedSkill:
    """A skill of the library that is not offered."""

    path: Annotated[str, "The skill's file."]
    why: Annotated[str, "Each rule that refuses it, with the policy file that sets the rule."]
    fix: Annotated[str, "What to do."]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyReport:
    """The policy of a folder, and what it refuses."""

    schema: Schema[Literal["skillyard.policy/1"]] = "skillyard.policy/1"
    files: Annotated[tuple[str, ...], "The policy files that hold, the machine's first."]
    rules: Annotated[tuple[PolicyRule, ...], "Sorted by rule."]
    refused: Annotated[tuple[RefusedSkill, ...], "Sorted by path."]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionScript:
    """The script that completes commands in a shell."""

    schema: Schema[Literal["skillyard.completion/1"]] = "skillyard.completion/1"
    shell: Annotated[str, "bash, zsh or fish."]
    script: Annotated[str, "Its text."]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSkill:
    """A skill that was written."""

    schema: Schema[Literal["skillyard.new/1"]] = "skillyard.new/1"
    name: Annotated[str, "The skill's name."]
    path: Annotated[str, "Its SKILL.md."]
    files: Annotated[tuple[str, ...], "Every file of its folder, relative to it."]
