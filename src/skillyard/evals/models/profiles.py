"""The parameters that models accept, by provider and beginning of the model's id.

A parameter that a model refuses fails each call with status 400, so only accepted ones are sent.
The longest matching beginning decides. The user's table has precedence over this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from skillyard.base.errors import InvalidInput

Profiles = Mapping[str, Mapping[str, Any]]
"""The user's fields of profiles, by the beginning of a model's id."""
_MAX_TOKENS_FIELDS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """The parameters that a model accepts besides its texts."""

    temperature: bool = True
    """``temperature``; False where any value is refused."""
    structured: bool = True
    """A JSON schema for the reply."""
    max_tokens_field: str = "max_tokens"
    """The name of the parameter that limits the output tokens."""
    source: str = ""
    """The source of this row."""


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """One line of the table."""

    provider: str
    prefix: str
    """The model's id begins with it, case ignored; empty fits every model."""
    profile: ModelProfile


_SAMPLING = (
    "platform.claude.com, migration to API version 2026-10-21: temperature, top_p and top_k are"
    " refused at any value"
)
_FORMAT = "platform.claude.com, structured outputs: Claude 4.5 and later"
_REASONING = (
    "developers.openai.com, reasoning guide: only the default temperature, max_completion_tokens"
    " in place of max_tokens"
)
_CHAT = "developers.openai.com, chat completions reference and structured outputs guide"
_NO_SCHEMA = "developers.openai.com, structured outputs guide: from gpt-4o-2024-08-06 on"
_SERVERS = "the chat completions protocol as llama.cpp, Ollama and vLLM document it"

_CLAUDE = ModelProfile(temperature=False, source=f"{_SAMPLING}; {_FORMAT}")
_CLAUDE_PLAIN = replace(_CLAUDE, structured=False)
_THINKS = ModelProfile(
    temperature=False, max_tokens_field="max_completion_tokens", source=_REASONING
)
_WITHOUT_FORMAT = (
    "claude-v",
    "claude-2",
    "claude-3",
    "claude-instant",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-2025",
    "claude-sonnet-4-0",
    "claude-sonnet-4-2025",
    "claude-haiku-4-2025",
)
"""Claude models before 4.5."""

PROFILES: tuple[ProfileRow, ...] = (
    ProfileRow("anthropic", "", _CLAUDE),
    *(ProfileRow("anthropic", prefix, _CLAUDE_PLAIN) for prefix in _WITHOUT_FORMAT),
    ProfileRow("openai", "", ModelProfile(source=_SERVERS)),
    ProfileRow("openai", "gpt-", _THINKS),
    ProfileRow("openai", "o1", _THINKS),
    ProfileRow("openai", "o3", _THINKS),
    ProfileRow("openai", "o4", _THINKS),
    ProfileRow("openai", "gpt-oss", ModelProfile(source=_SERVERS)),
    ProfileRow("openai", "gpt-4", ModelProfile(structured=False, source=_NO_SCHEMA)),
    ProfileRow("openai", "gpt-3.5", ModelProfile(structured=False, source=_NO_SCHEMA)),
    *(
        ProfileRow(
            "openai", prefix, ModelProfile(max_tokens_field="max_completion_tokens", source=_CHAT)
        )
        for prefix in ("gpt-4o", "gpt-4.1", "gpt-4.5", "chatgpt-4o")
    ),
)

_SETTABLE = sorted(field.name for field in fields(ModelProfile) if field.name != "source")


def profile_of(provider: str, model: str, own: Profiles | None = None) -> ModelProfile:
    """Return the profile of a model. A field of ``own`` replaces that of the table.

    Of the matching rows the one with the longest beginning decides. ``own`` has
    passed :func:`check_profiles`.
    """
    name = model.casefold()
    matching = [row for row in PROFILES if row.provider == provider and name.startswith(row.prefix)]
    profile = max(matching, key=lambda row: len(row.prefix)).profile
    for prefix in sorted(own or {}, key=len):
        if own and name.startswith(prefix.casefold()):
            source = f"the configuration's profile {prefix!r}"
            profile = replace(profile, **{**own[prefix], "source": source})
    return profile


def check_profiles(own: Profiles) -> None:
    """Raise InvalidInput for a field that profiles do not have, or a value of the wrong type."""
    for prefix, overrides in own.items():
        for name, value in overrides.items():
            where = f"profile {prefix!r}: {name}"
            if name not in _SETTABLE:
                known = ", ".join(_SETTABLE)
                raise InvalidInput(f"{where} is no field of a profile; known: {known}")
            if name == "max_tokens_field":
                if value not in _MAX_TOKENS_FIELDS:
                    raise InvalidInput(f"{where} must be one of {', '.join(_MAX_TOKENS_FIELDS)}")
            elif not isinstance(value, bool):
                raise InvalidInput(f"{where} must be true or false, not {value!r}")
