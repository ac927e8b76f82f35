"""What ``completion`` writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionScript:
    """The script that completes commands in a shell."""

    schema: Schema[Literal["skillyard.completion/1"]] = "skillyard.completion/1"
    shell: Annotated[str, "bash, zsh or fish."]
    script: Annotated[str, "Its text."]
