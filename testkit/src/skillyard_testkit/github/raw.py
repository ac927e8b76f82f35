"""GitHub's raw-content host: ``/{owner}/{repository}/{ref}/{path}``, the bytes and nothing else.

A renamed repository is served under its old name, a link is served as its target's path, and a
private one is not there without the token: the host gives no reason.
"""

from __future__ import annotations

from collections.abc import Callable

from skillyard_testkit.github.repositories import Repositories
from skillyard_testkit.messages import (
    TEXT,
    Request,
    Response,
    conditional_response,
    etag_of,
    text_response,
)
from skillyard_testkit.site import Site, phrase
from skillyard_testkit.switches import Switches

__all__ = ["GitHubRaw"]


class GitHubRaw(Site):
    """The raw-content host, over the repositories that it is given."""

    name = "github_raw"

    def __init__(self, switches: Callable[[], Switches], repositories: Repositories) -> None:
        super().__init__(switches)
        self._repositories = repositories

    def respond(self, request: Request) -> Response:
        """Return the file with its entity tag, or 304 when the client has it."""
        data = self._content(request)
        if data is None:
            return self.error(request, 404)
        response = text_response(
            data, kind=TEXT if _is_text(data) else "application/octet-stream"
        ).with_headers(cache_control="max-age=300", x_content_type_options="nosniff")
        return conditional_response(request, response, etag_of(data))

    def error(self, request: Request, status: int, message: str = "") -> Response:
        """Return the line of text that this host writes: ``404: Not Found``."""
        return text_response(f"{status}: {message or phrase(status)}", status)

    def account(self, request: Request) -> str:
        """Return the token when it is the valid one."""
        return request.token if request.token == self.switches.github_token else ""

    def _content(self, request: Request) -> bytes | None:
        if len(request.parts) < 4:
            return None
        owner, name, *rest = request.parts
        repository = self._repositories.current(f"{owner}/{name}")
        if repository is None or (repository.private and not self.account(request)):
            return None
        place = repository.split_ref(tuple(rest))
        return place[0].content(place[1]) if place else None


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in data
