"""One route: its name, parameters, handler and response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from skillyard.serving.runtime.app_context import AppContext, RouteRequest
from skillyard.serving.runtime.encoding import JSON, Reply
from skillyard.serving.runtime.fields import Field

__all__ = ["Handler", "Route"]

Handler = Callable[[AppContext, RouteRequest], Awaitable[Reply]]


class Route(NamedTuple):
    """One path and method."""

    method: str
    """``GET`` (which includes HEAD) or ``POST``."""
    pattern: str
    """The path for matching: ``/skills/{source:path}/{id}``."""
    name: str
    """The operation id."""
    about: str
    handler: Handler
    answer: str | dict[str, Any]
    """The name of the response's schema, or the schema."""
    fields: tuple[Field, ...] = ()
    """The fields of the query of a GET, or of the JSON body of a POST."""
    path_fields: tuple[Field, ...] = ()
    either: tuple[str, ...] = ()
    """Fields of the body of which at least one must be non-empty."""
    refusals: tuple[int, ...] = ()
    """Statuses in addition to those of every route."""
    strict: bool = True
    """Refuse unknown fields. Skyll's clients may send more than skillyard reads."""
    free: bool = False
    """True for routes that are served however busy the service is, without waiting for a slot."""
    media: str = JSON
    tagged: bool = False
    """True when the response may have an entity tag."""
    form: bool = False
    """True when the body is a submitted form instead of JSON."""
    group: str = ""
    """The tag of the route in the OpenAPI document."""

    @property
    def path(self) -> str:
        """The documented path: ``/skills/{source}/{id}``."""
        return self.pattern.replace(":path}", "}")
