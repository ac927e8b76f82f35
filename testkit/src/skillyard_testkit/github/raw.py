"""GitHub's raw-content host: ``/{owner}/{repository}/{ref}/{path}``, the bytes and nothing else.

A renamed repository is served under its old name, a link is served as its target's path, and a
private one is not there without the token: the host never says why.
"""

from __future__ import annotations

from collections.abc import Callable

from skillyard.standin.answers import TEXT, Answer, Asked, conditional, etag_of, text_answer
from skillyard.standin.repositories import Repositories
from skillyard.standin.site import Site, phrase
from skillyard.standin.switches import Switches

__all__ = ["GitHubRaw"]


class GitHubRaw(Site):
    """Answers as the raw-content host does, from repositories that it is given."""

    name = "github_raw"

    def __init__(self, switches: Callable[[], Switches], repositories: Repositories) -> None:
        super().__init__(switches)
        self._repositories = repositories

    def answer(self, asked: Asked) -> Answer:
        """Return the file, tagged, and 304 where the client has it."""
        data = self._content(asked)
        if data is None:
            return self.error(asked, 404)
        answer = text_answer(
            data, kind=TEXT if _is_text(data) else "application/octet-stream"
        ).with_headers(cache_control="max-age=300", x_content_type_options="nosniff")
        return conditional(asked, answer, etag_of(data))

    def error(self, asked: Asked, status: int, message: str = "") -> Answer:
        """Return the line of text that this host writes: ``404: Not Found``."""
        return text_answer(f"{status}: {message or phrase(status)}", status)

    def account(self, asked: Asked) -> str:
        """Return the token, when it is the one that is known."""
        return asked.token if asked.token == self.switches.github_token else ""

    def _content(self, asked: Asked) -> bytes | None:
        if len(asked.parts) < 4:
            return None
        owner, name, *rest = asked.parts
        found = self._repositories.current(f"{owner}/{name}")
        if found is None or (found.private and not self.account(asked)):
            return None
        place = found.split_ref(tuple(rest))
        return place[0].content(place[1]) if place else None


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in data
