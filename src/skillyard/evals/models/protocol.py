"""The protocol of models: requests, replies and failures, the same for every provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from skillyard.base.errors import SkillyardError

if TYPE_CHECKING:
    from skillyard.evals.agent.workspace import Workspace

_LATENCY_S = 15.0
_TOKENS_PER_S = 50
"""Slower than models usually write. A limit that cuts long answers off pays for them all the same.
"""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question to a model: a system text and one user text."""

    model: str
    """The provider's model id, from the configuration; never a default in code."""
    system: str
    user: str
    max_tokens: int = 16_000
    """Most output tokens, 1 and up; current models count what they think against it."""
    temperature: float | None = 0.0
    """0..2, as requested; whether it is sent depends on the model (:meth:`ChatModel.sent`)."""
    schema: Mapping[str, object] | None = None
    """A JSON schema that the reply must follow, where the provider can hold a model to one."""
    workspace: Workspace | None = None
    """What an agent finds in its sandbox; None: one completion, without tools."""

    @property
    def time_limit_s(self) -> float:
        """The seconds that the longest answer may take, if nobody set another limit."""
        return _LATENCY_S + self.max_tokens / _TOKENS_PER_S


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """The token counts that the provider reported, or None."""

    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One answer of a model."""

    text: str
    """All text blocks, joined; empty for a refusal."""
    stop_reason: str
    """``end``, ``max_tokens``, ``refusal``, or the provider's own word for anything else."""
    usage: TokenUsage = TokenUsage()
    sent: Mapping[str, object] = field(default_factory=dict)
    """Every parameter that was sent beside model and texts (part of the cache key)."""
    latency_s: float = 0.0
    sdk: str = ""
    """Name and version of the library that sent it: ``anthropic 2.12.0``."""
    fake: bool = False
    """True if a stand-in server answered: no conclusion about a model or skill is possible."""


class ModelFailed(SkillyardError):
    """One attempt at a model gave no reply.

    ``kind`` is one of ``authentication``, ``permission``, ``not_found``, ``too_large``,
    ``bad_request``, ``no_money``, ``rate_limited``, ``overloaded``, ``server``, ``timeout``,
    ``connection``, ``bad_reply`` (the body does not follow the protocol), ``missing_library`` and
    ``missing_key``. ``retry``: another attempt may succeed. ``permanent``: every other request will
    fail too, so the run should end. ``retry_after_s``: the delay that the server asked for.
    ``charged``: the provider may bill the attempt, because the request reached it and its result is
    unknown.
    """

    def __init__(
        self,
        kind: str,
        what: str,
        *,
        retry: bool = False,
        permanent: bool = False,
        retry_after_s: float | None = None,
        status: int | None = None,
        charged: bool = False,
    ) -> None:
        super().__init__(what)
        self.kind = kind
        self.retry = retry
        self.permanent = permanent
        self.retry_after_s = retry_after_s
        self.status = status
        self.charged = charged


class RunStopped(SkillyardError):
    """No further call may start; what was done before is good.

    ``reason`` is ``budget``, ``fail_fast`` or ``interrupted``.
    """

    def __init__(self, reason: str, what: str) -> None:
        super().__init__(what)
        self.reason = reason


class ChatModel(Protocol):
    """A provider's models behind one client. Safe to call from many threads."""

    @property
    def provider(self) -> str:
        """``anthropic`` or ``openai``."""

    @property
    def host(self) -> str:
        """What identifies the server, with its port and path; in cache keys, never a credential."""

    def sent(self, request: ModelRequest) -> dict[str, object]:
        """Return the parameters that would be sent beside model and texts; asks nobody.

        ``temperature`` is in it only where the model takes one.
        """

    def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Ask once, without retries, for at most ``timeout_s`` seconds. Raises ModelFailed."""
