"""GitHub's REST API host: repositories, trees, contents, commits and blobs.

Beside the three routes that a client of skills needs stand the two that their answers point to
(``git/blobs``, ``commits``) and ``/repositories/{id}``, to which a renamed repository redirects.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import quote

from skillyard_testkit.github.git_objects import COMMITTER, COMMITTER_EMAIL, LINK, SUBMODULE, Entry
from skillyard_testkit.github.repositories import Repositories, Repository
from skillyard_testkit.github.snapshots import FIRST_COMMIT_AT, Snapshot
from skillyard_testkit.messages import (
    Request,
    Response,
    conditional_response,
    etag_of,
    json_response,
    text_response,
)
from skillyard_testkit.rate_limits import RateLimitState
from skillyard_testkit.site import Site, phrase
from skillyard_testkit.switches import Switches

__all__ = ["GitHubApi"]

_DOCUMENTATION = "https://docs.github.com/rest"
_MESSAGES = {
    401: "Bad credentials",
    403: "Resource not accessible by personal access token",
    404: "Not Found",
    409: "Git Repository is empty.",
    429: "API rate limit exceeded for 127.0.0.1.",
    451: "Repository access blocked",
    500: "Server Error",
}
_SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)
_MAX_FOLDER_ENTRIES = 1_000
_BASE64_LINE = 60


class GitHubApi(Site):
    """The REST API, over the repositories that it is given."""

    name = "github_api"

    def __init__(self, switches: Callable[[], Switches], repositories: Repositories) -> None:
        super().__init__(switches)
        self._repositories = repositories
        self.raw_base = ""
        """The URL of the raw-content host, once it runs."""

    def respond(self, request: Request) -> Response:
        """Return the response to GET with its entity tag, or 304 when the client has it."""
        if not request.headers.get("user-agent"):
            return self.error(request, 403, "Request forbidden by administrative rules.")
        if request.headers.get("authorization") and not self.account(request):
            return self.error(request, 401)
        response = self._route(request)
        # One resource has several media types, so the tag depends on the Accept header too.
        accepted = request.headers.get("accept", "").encode()
        return conditional_response(
            request, response, etag_of(response.body + b"\0" + accepted, weak=True)
        )

    def error(self, request: Request, status: int, message: str = "") -> Response:
        """Return ``{"message", "documentation_url", "status"}``; 401 has the message alone."""
        text = message or _MESSAGES.get(status, phrase(status))
        if status == 401:
            return json_response({"message": text}, 401)
        shape: dict[str, Any] = {
            "message": text,
            "documentation_url": _DOCUMENTATION,
            "status": str(status),
        }
        if status == 451:
            shape["block"] = {"reason": "dmca", "created_at": _time(FIRST_COMMIT_AT)}
        return json_response(shape, status)

    def account(self, request: Request) -> str:
        """Return the token when it is the valid one."""
        return request.token if request.token == self.switches.github_token else ""

    def rate_limited_response(self, request: Request, status: int, wait_s: int) -> Response:
        """Return the response of the primary limit; the rate limit headers say when it ends."""
        who = "user ID 1" if self.account(request) else "127.0.0.1"
        return self.error(request, status, f"API rate limit exceeded for {who}.")

    def secondary_limit_response(
        self, request: Request, status: int, retry_after: int | None
    ) -> Response:
        """Return the response of the secondary limit."""
        response = self.error(request, status, _SECONDARY)
        return response.with_headers(retry_after=str(retry_after)) if retry_after else response

    def rate_limit_headers(self, state: RateLimitState) -> dict[str, str]:
        """Return the five headers of the primary limit."""
        return {
            "x-ratelimit-limit": str(state.limit),
            "x-ratelimit-remaining": str(state.remaining),
            "x-ratelimit-used": str(state.used),
            "x-ratelimit-reset": str(int(state.reset_at)),
            "x-ratelimit-resource": "core",
        }

    def _route(self, request: Request) -> Response:
        match request.parts:
            case ("repos", owner, name, *rest):
                repository = self._repositories.named(f"{owner}/{name}")
            case ("repositories", number, *rest):
                repository = self._repositories.numbered(number)
            case _:
                return self.error(request, 404)
        if repository is None or (repository.private and not self.account(request)):
            return self.error(request, 404)
        if repository.renamed_to:
            return self._moved(request, repository, rest)
        match rest:
            case []:
                return json_response(self._repository(repository))
            case ["git", "trees", *ref] if ref:
                return self._tree(request, repository, "/".join(ref))
            case ["git", "blobs", sha]:
                return self._blob(request, repository, sha)
            case ["commits", *ref] if ref:
                return self._commit(request, repository, "/".join(ref))
            case ["contents", *path]:
                return self._contents(request, repository, "/".join(path).strip("/"))
        return self.error(request, 404)

    def _moved(self, request: Request, repository: Repository, rest: list[str]) -> Response:
        """Return the redirect of a renamed repository, to its number as GitHub does."""
        target = self._repositories.current(repository.full_name)
        if target is None or target.renamed_to:
            return self.error(request, 404)
        below = "".join(f"/{quote(part, safe='')}" for part in rest)
        query = request.target.partition("?")[2]
        url = f"{self.base}/repositories/{target.number}{below}" + (f"?{query}" if query else "")
        shape = {"message": "Moved Permanently", "url": url, "documentation_url": _DOCUMENTATION}
        return json_response(shape, 301, location=url)

    def _url(self, repository: Repository, *below: str) -> str:
        return "/".join(
            [self.base, "repos", repository.full_name, *(quote(part) for part in below)]
        )

    def _repository(self, repository: Repository) -> dict[str, Any]:
        owner, _, name = repository.full_name.partition("/")
        pushed = repository.head.at if repository.head else FIRST_COMMIT_AT
        return {
            "id": repository.number,
            "name": name,
            "full_name": repository.full_name,
            "private": repository.private,
            "visibility": "private" if repository.private else "public",
            "owner": {"login": owner, "type": "Organization"},
            "html_url": f"https://github.com/{repository.full_name}",
            "url": self._url(repository),
            "description": None,
            "fork": False,
            "archived": False,
            "disabled": False,
            "default_branch": repository.default_branch,
            "stargazers_count": 0,
            "forks_count": 0,
            "open_issues_count": 0,
            "license": None,
            "topics": [],
            "created_at": _time(FIRST_COMMIT_AT),
            "updated_at": _time(pushed),
            "pushed_at": _time(pushed),
        }

    def _tree(self, request: Request, repository: Repository, ref: str) -> Response:
        if not repository.history:
            return self.error(request, 409)
        place = repository.tree_at(ref)
        if place is None:
            return self.error(request, 404)
        snapshot, folder = place
        start = len(folder) + 1 if folder else 0
        entries = snapshot.below(folder)
        # Any value asks for the whole tree, "0" and "false" too; leaving it out is what does not.
        if "recursive" not in request.query:
            entries = [entry for entry in entries if "/" not in entry.path[start:]]
        count = self._fitting(entries)
        at = snapshot.entry(folder) if folder else None
        sha = at.sha if at else snapshot.tree_sha
        return json_response(
            {
                "sha": sha,
                "url": self._url(repository, "git", "trees", sha),
                "tree": [self._entry(repository, entry, start) for entry in entries[:count]],
                "truncated": count < len(entries),
            }
        )

    def _fitting(self, entries: list[Entry]) -> int:
        """Return how many entries fit into the limits of one response."""
        left = self.switches.tree_bytes
        max_entries = self.switches.tree_entries
        for number, entry in enumerate(entries):
            left -= len(entry.path) + len(entry.mode) + 22  # two separators, 20 bytes of SHA-1
            if number >= max_entries or left < 0:
                return number
        return len(entries)

    def _entry(self, repository: Repository, entry: Entry, start: int) -> dict[str, Any]:
        shape: dict[str, Any] = {
            "path": entry.path[start:],
            "mode": entry.mode,
            "type": entry.type,
            "sha": entry.sha,
        }
        if entry.size is not None:
            shape["size"] = entry.size
        if entry.mode != SUBMODULE:  # its commit lies in another repository
            kind = "trees" if entry.type == "tree" else "blobs"
            shape["url"] = f"{self.base}/repos/{repository.full_name}/git/{kind}/{entry.sha}"
        return shape

    def _blob(self, request: Request, repository: Repository, sha: str) -> Response:
        for snapshot in reversed(repository.history):
            path = snapshot.path_of_blob(sha)
            data = None if path is None else snapshot.content(path)
            if data is None:
                continue
            if _accepts_raw(request):
                return text_response(data, kind="application/vnd.github.raw; charset=utf-8")
            return json_response(
                {
                    "sha": sha,
                    "size": len(data),
                    "url": self._url(repository, "git", "blobs", sha),
                    "content": _base64(data),
                    "encoding": "base64",
                }
            )
        return self.error(request, 404)

    def _commit(self, request: Request, repository: Repository, ref: str) -> Response:
        if not repository.history:
            return self.error(request, 409)
        snapshot = repository.at(ref)
        if snapshot is None:
            return self.error(request, 422, f"No commit found for SHA: {ref}")
        if "vnd.github.sha" in request.headers.get("accept", ""):
            return text_response(snapshot.commit, kind="application/vnd.github.sha; charset=utf-8")
        by = {"name": COMMITTER, "email": COMMITTER_EMAIL, "date": _time(snapshot.at)}
        tree = {
            "sha": snapshot.tree_sha,
            "url": self._url(repository, "git", "trees", snapshot.tree_sha),
        }
        parents = [
            {"sha": parent.commit}
            for parent in repository.history
            if parent.number == snapshot.number - 1
        ]
        return json_response(
            {
                "sha": snapshot.commit,
                "url": self._url(repository, "commits", snapshot.commit),
                "commit": {
                    "message": snapshot.message,
                    "author": by,
                    "committer": by,
                    "tree": tree,
                },
                "parents": parents,
            }
        )

    def _contents(self, request: Request, repository: Repository, path: str) -> Response:
        if not repository.history:
            return self.error(request, 404, "This repository is empty.")
        ref = request.query.get("ref") or "HEAD"
        snapshot = repository.at(ref)
        if snapshot is None:
            return self.error(request, 404, f"No commit found for the ref {ref}")
        entry = snapshot.entry(path)
        if path and entry is None:
            return self.error(request, 404)
        if entry is None or entry.type == "tree":
            return self._folder(repository, snapshot, path, ref)
        if entry.mode == LINK:
            entry = _linked(snapshot, entry)
        data = snapshot.content(entry.path)
        if _accepts_raw(request) and data is not None:
            return text_response(data, kind="application/vnd.github.raw; charset=utf-8")
        shape = self._content(repository, entry, ref)
        if entry.mode == LINK:
            shape["target"] = (data or b"").decode("utf-8", "replace")
        elif data is not None and len(data) <= self.switches.inline_bytes:
            shape |= {"encoding": "base64", "content": _base64(data)}
        elif data is not None:
            shape |= {"encoding": "none", "content": ""}
        return json_response(shape)

    def _folder(self, repository: Repository, snapshot: Snapshot, path: str, ref: str) -> Response:
        start = len(path) + 1 if path else 0
        direct = [entry for entry in snapshot.below(path) if "/" not in entry.path[start:]]
        return json_response(
            [self._content(repository, entry, ref) for entry in direct[:_MAX_FOLDER_ENTRIES]]
        )

    def _content(self, repository: Repository, entry: Entry, ref: str) -> dict[str, Any]:
        """Return the fields that the contents route gives for files and folders alike."""
        kind = {"tree": "dir", "commit": "submodule", "blob": "file"}[entry.type]
        kind = "symlink" if entry.mode == LINK else kind
        url = f"{self._url(repository, 'contents', entry.path)}?ref={quote(ref, safe='')}"
        own = "trees" if entry.type == "tree" else "blobs"
        git_url = None if kind == "submodule" else self._url(repository, "git", own, entry.sha)
        page = "tree" if entry.type == "tree" else "blob"
        html_url = (
            f"https://github.com/{repository.full_name}/{page}/{quote(ref)}/{quote(entry.path)}"
        )
        raw = f"{self.raw_base}/{repository.full_name}/{quote(ref)}/{quote(entry.path)}"
        shape: dict[str, Any] = {
            "type": kind,
            "name": entry.path.rsplit("/", 1)[-1],
            "path": entry.path,
            "sha": entry.sha,
            "size": entry.size or 0,
            "url": url,
            "git_url": git_url,
            "html_url": html_url,
            "download_url": raw if entry.type == "blob" else None,
            "_links": {"self": url, "git": git_url, "html": html_url},
        }
        if kind == "submodule":
            shape["submodule_git_url"] = None
        return shape


def _linked(snapshot: Snapshot, entry: Entry) -> Entry:
    """Return the file that a link leads to within the repository, or the link itself."""
    target = (snapshot.content(entry.path) or b"").decode("utf-8", "replace")
    linked = snapshot.entry(normpath(join(dirname(entry.path), target)))
    is_file = linked is not None and linked.type == "blob" and linked.mode != LINK
    return linked if linked is not None and is_file else entry


def _accepts_raw(request: Request) -> bool:
    accepted = request.headers.get("accept", "")
    return "vnd.github" in accepted and ".raw" in accepted


def _base64(data: bytes) -> str:
    """Return base64 in lines of sixty, as GitHub breaks them."""
    text = b64encode(data).decode()
    lines = [text[at : at + _BASE64_LINE] for at in range(0, len(text), _BASE64_LINE)]
    return "".join(f"{line}\n" for line in lines)


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
