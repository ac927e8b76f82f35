"""One route: what it is called, what it takes, who answers, how the answer looks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from skillyard.serving.http.fields import Field
from skillyard.serving.runtime.app_context import AppContext, RouteRequest
from skillyard.serving.runtime.encoding import JSON, Reply

__all__ = ["Handler", "Route"]

Handler = Callable[[AppContext, RouteRequest], Awaitable[Reply]]


class Route(NamedTuple):
    """One path and method."""

    method: str
    """``GET`` (which answers HEAD too) or ``POST``."""
    path: str
    """As it is described: ``/skills/{source}/{id}``."""
    pattern: str
    """As it is matched: ``/skills/{source:path}/{id}``."""
    name: str
    """Its operation id."""
    about: str
    handler: Handler
    answer: str | dict[str, Any]
    """Name of the answer's schema, or the schema."""
    fields: tuple[Field, ...] = ()
    """Of the query of a GET, of the JSON body of a POST."""
    path_fields: tuple[Field, ...] = ()
    either: tuple[str, ...] = ()
    """Fields of a body of which one must be given: a text, or a list with something in it."""
    refusals: tuple[int, ...] = ()
    """Statuses beside those that every route has."""
    strict: bool = True
    """Refuse fields that are not known. Skyll's clients may send more than it reads."""
    free: bool = False
    """True for what is answered however busy the service is: it takes no place in the queue."""
    media: str = JSON
    tagged: bool = False
    """True where the answer may carry an entity tag."""
    form: bool = False
    """True where the body is what the form of a page sends, instead of JSON."""
    group: str = ""
    """Under which heading of the description it stands."""
