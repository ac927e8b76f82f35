"""What the models over a provider's own library have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from skillyard.evals.models.adapter import (
    attribute,
    call_library,
    host_of,
    key_of,
    stop_word,
    timed_reply,
)
from skillyard.evals.models.bounded_client import bounded_client
from skillyard.evals.models.failures import missing_library
from skillyard.evals.models.profiles import check_profiles
from skillyard.evals.models.protocol import Reply

__all__ = ["SdkModel", "open_client"]


def _library(provider: str) -> Any:
    """Return a provider's library. Raises ModelFailed (``missing_library``)."""
    try:
        return import_module(provider)
    except ImportError:
        raise missing_library(provider) from None


def open_client(provider: str, client_class: str, key: str, base_url: str) -> Any:
    """Return a client of a provider's library, without retries and with bounded answers."""
    return getattr(_library(provider), client_class)(
        api_key=key, base_url=base_url, max_retries=0, http_client=bounded_client()
    )


class SdkModel:
    """A ``ChatModel`` over a client of a provider's library, or one that behaves like it.

    ``profiles`` go before the table in ``profiles.py``. Safe for many threads.
    """

    _provider: str
    """The name of the provider and of its library."""
    _client_class: str
    """The library's class of clients; the raw response is read from these alone."""
    _error_class: str
    _secret_names: tuple[str, ...]
    """Attributes of the client that hold keys."""
    _stops: Mapping[str, str]
    """Our word for each of the provider's reasons to stop."""

    def __init__(
        self, client: Any, profiles: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        check_profiles(profiles or {})
        self._library = _library(self._provider)
        self._own = isinstance(client, getattr(self._library, self._client_class))
        self._client = client.with_options(max_retries=0) if self._own else client
        self._profiles = profiles
        self._secrets = key_of(client, *self._secret_names)
        self._host = host_of(getattr(client, "base_url", ""))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._host!r})"

    def close(self) -> None:
        """Close the client and its connections; nothing can be asked afterwards."""
        self._client.close()

    @property
    def provider(self) -> str:
        """The provider's name."""
        return self._provider

    @property
    def host(self) -> str:
        """Host and port of the base URL."""
        return self._host

    def _raw(self, api: Any) -> Any:
        """Return a part of the client that gives whole responses, headers included."""
        return api.with_raw_response if self._own else api

    def _timed(self, send: Callable[[], Any], read: Callable[[Any], Reply], what: str) -> Reply:
        """Return what ``read`` makes of an answer to ``send``. Raises ModelFailed."""
        errors = getattr(self._library, self._error_class)
        return timed_reply(
            lambda: call_library(send, self._library, errors, self._provider, self._secrets),
            read,
            self._provider,
            what,
            raw=self._own,
        )

    def _stop_of(self, message: Any, name: str) -> str:
        stop = attribute(message, name)
        return self._stops.get(stop, stop_word(stop)) if isinstance(stop, str) else stop_word(stop)

    @property
    def _sdk(self) -> str:
        return f"{self._provider} {self._library.__version__}"
