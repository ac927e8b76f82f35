"""What ``help`` and ``completion`` write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.shapes import Schema

__all__ = ["CompletionScript", "HelpPage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpPage:
    """The help of a command."""

    schema: Schema[Literal["skillyard.help/1"]] = "skillyard.help/1"
    command: Annotated[tuple[str, ...], "The words of the command; empty: all commands."]
    text: Annotated[str, "The page."]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionScript:
    """The script that completes commands in a shell."""

    schema: Schema[Literal["skillyard.completion/1"]] = "skillyard.completion/1"
    shell: Annotated[str, "bash, zsh or fish."]
    script: Annotated[str, "Its text."]
