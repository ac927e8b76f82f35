"""What ``policy`` writes: the rules in force and the skills that they refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Schema


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
    profiles: Annotated[
        tuple[str, ...], "The profiles that the files know; left out without any."
    ] = ()
    profile: Annotated[str, "The profile of the policy in force; left out without one."] = ""
