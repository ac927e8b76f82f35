"""The Skills extension (SEP-2640) and skills as resources, over the library.

Each function takes a view and returns JSON or SDK values; :mod:`.server` binds them to the
protocol's methods.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple, TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import (
    BlobResourceContents,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceResult,
    RequestParams,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from skillyard.base.errors import SkillError, SourceFailed
from skillyard.base.text import clean_line, shorten
from skillyard.engine.skill import Skill
from skillyard.serve.mcp.call import SharedState, cursor_of, notice_of, origin_of, place_in
from skillyard.serve.mcp.failures import invalid
from skillyard.serve.mcp.manifests import Entry, EntryFile, Unserved
from skillyard.serve.mcp.skill_uris import SCHEME, SKILL_FILE, below
from skillyard.serve.runtime.view import View

EXTENSION = "io.modelcontextprotocol/skills"
SETTINGS = {"directoryRead": True}
CACHE_MS = 500
"""Seconds that a client may cache an answer: edits must be visible within a second."""
PAGE = 50
"""Skills per page; an entry is never split."""
CHILDREN = 500
"""Children of a directory per page."""
URI_CHARS = 4_096
DIRECTORY = "inode/directory"
META = "io.modelcontextprotocol.skills/"
"""The prefix that the extension requires for metadata of skill resources."""
SCOPE: Literal["private"] = "private"
"""The list of skills is private: shared caches must not store the answers."""

T = TypeVar("T")
WorkResult = tuple[T, Iterable[Skill]]


class GetSkillParams(RequestParams):
    """Parameters of ``skills/get``."""

    uri: str


class DirectoryParams(PaginatedRequestParams):
    """Parameters of ``resources/directory/read``."""

    uri: str


class _Page(NamedTuple):
    """The entries of one page, and the URI of its last item when more pages follow."""

    entries: tuple[Entry, ...]
    last: str | None

    @property
    def cursor(self) -> str | None:
        return None if self.last is None else cursor_of(self.last)


def _page(shared: SharedState, view: View, cursor: str | None) -> _Page:
    try:
        after = place_in(cursor)
    except ValueError as error:
        raise invalid(f"cursor: {error}", "bad_cursor") from None
    entries: list[Entry] = []
    last: str | None = None
    for root, skill in shared.manifests.uris_of(view).by_root.items():
        if after is not None and root <= after:
            continue
        if len(entries) == PAGE:
            return _Page(tuple(entries), last)
        last = root
        try:
            entries.append(shared.manifests.entry(root, skill))
        except (Unserved, SourceFailed):
            continue  # the tools serve it, and skills/get explains why the extension does not
    return _Page(tuple(entries), None)


async def list_skills(shared: SharedState, cursor: str | None) -> dict[str, Any]:
    """Return one page of the entries of all served skills (``skills/list``)."""

    def work(view: View) -> WorkResult[dict[str, Any]]:
        page = _page(shared, view, cursor)
        result: dict[str, Any] = {"skills": [entry.to_dict() for entry in page.entries]}
        if page.cursor is not None:
            result["nextCursor"] = page.cursor
        return result, [entry.skill for entry in page.entries]

    return await shared.views.answer(work)


async def get_skill(shared: SharedState, uri: str) -> dict[str, Any]:
    """Return the entry of one skill by the URI of its SKILL.md (``skills/get``)."""

    def work(view: View) -> WorkResult[dict[str, Any]]:
        entry = _entry(shared, view, uri)
        return {"skill": entry.to_dict()}, [entry.skill]

    return await _answer_with_retry(shared, uri, work)


def _entry(shared: SharedState, view: View, uri: str) -> Entry:
    """Return the entry with that URI. Raises MCPError, SourceFailed."""
    uris = shared.manifests.uris_of(view)
    root = uri.removesuffix(f"/{SKILL_FILE}")
    skill = uris.by_root.get(root) if root != uri else None
    if skill is None:
        raise _unknown(uri, _refusal(view, uris.refused, uri))
    try:
        return shared.manifests.entry(root, skill)
    except Unserved as error:
        raise _unknown(uri, str(error)) from None


def _refusal(view: View, refused: Any, uri: str) -> str:
    """Return the error for an unknown URI, with the reason when a skill of that name has none."""
    name = uri.removeprefix(SCHEME).removesuffix(f"/{SKILL_FILE}").rpartition("/")[2]
    for skill in view.catalog.candidates:
        if skill.name == name and skill.path in refused:
            return str(refused[skill.path])
    return ""


def _unknown(uri: str, why: str = "") -> MCPError:
    clean_uri = clean_line(shorten(uri, 200))
    message = f"No skill is served at {clean_uri}"
    if why:
        message += f": {why}; load_skill may serve it"
    return invalid(message, "unknown_uri", uri=clean_uri)


async def _answer_with_retry(
    shared: SharedState, uri: str, work: Callable[[View], WorkResult[T]]
) -> T:
    if len(uri) > URI_CHARS:
        raise invalid("the URI is too long", "unknown_uri")
    try:
        return await shared.views.answer(work)
    except SourceFailed:  # the file changed after the view was made
        await shared.context.follower.refresh_anew()
    try:
        return await shared.views.answer(work)
    except SourceFailed:
        raise invalid("its file is being changed; ask again", "changing") from None


async def list_resources(shared: SharedState, cursor: str | None) -> ListResourcesResult:
    """Return the files of one page of skills (``resources/list``)."""

    def work(view: View) -> WorkResult[ListResourcesResult]:
        page = _page(shared, view, cursor)
        resources = [_resource(view, entry, file) for entry in page.entries for file in entry.files]
        return (
            ListResourcesResult(resources=resources, next_cursor=page.cursor),
            [entry.skill for entry in page.entries],
        )

    return await shared.views.answer(work)


def _resource(view: View, entry: Entry, file: EntryFile) -> Resource:
    own = file.path == SKILL_FILE
    return Resource(
        uri=file.uri,
        name=entry.skill.name if own else file.path.rpartition("/")[2],
        description=clean_line(entry.skill.description) if own else None,
        mime_type=media_type(file.path),
        size=file.size,
        _meta=_meta(view, entry.skill, file.digest),
    )


def _meta(view: View, skill: Skill, digest: str = "") -> dict[str, Any]:
    """Return the metadata of a resource: origin, digest, notice."""
    meta = {f"{META}origin": origin_of(view, skill)}
    if digest:
        meta[f"{META}digest"] = digest
    notice = notice_of(view, skill)
    return {**meta, f"{META}notice": notice} if notice else meta


def list_templates() -> ListResourceTemplatesResult:
    """Return the template of the URIs (``resources/templates/list``)."""
    template = ResourceTemplate(
        uri_template="skill://{+path}",
        name="skill file",
        description="A file of a skill, as skills/list and resources/list name it.",
    )
    return ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(shared: SharedState, uri: str) -> ReadResourceResult:
    """Return the bytes of one file (``resources/read``), which match its digest."""

    def work(view: View) -> WorkResult[ReadResourceResult]:
        root, skill, path = _place(shared, view, uri)
        try:
            data = shared.manifests.read(root, skill, path)
        except (Unserved, SkillError):
            raise _no_file(uri) from None
        meta = _meta(view, skill)
        return ReadResourceResult(contents=[_contents(uri, path, data, meta)]), [skill]

    return await _answer_with_retry(shared, uri, work)


def _place(shared: SharedState, view: View, uri: str) -> tuple[str, Skill, str]:
    """Return (skill folder's URI, skill, path inside it). Raises MCPError."""
    uris = shared.manifests.uris_of(view)
    root = uris.root_of(uri)
    path = None if root is None else below(root, uri)
    if root is None or path is None:
        raise _no_file(uri)
    return root, uris.by_root[root], path


def _no_file(uri: str) -> MCPError:
    clean_uri = clean_line(shorten(uri, 200))
    return invalid(f"No resource is served at {clean_uri}", "unknown_uri", uri=clean_uri)


def _contents(
    uri: str, path: str, data: bytes, meta: dict[str, Any]
) -> TextResourceContents | BlobResourceContents:
    kind = media_type(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        blob = base64.b64encode(data).decode("ascii")
        return BlobResourceContents(uri=uri, mime_type=kind, blob=blob, _meta=meta)
    return TextResourceContents(uri=uri, mime_type=kind, text=text, _meta=meta)


async def read_directory(shared: SharedState, uri: str, cursor: str | None) -> dict[str, Any]:
    """Return the direct children of a directory of a skill (``resources/directory/read``).

    Directories are those that contain a file at any depth; an empty one does not exist.
    """
    try:
        after = place_in(cursor)
    except ValueError as error:
        raise invalid(f"cursor: {error}", "bad_cursor") from None

    def work(view: View) -> WorkResult[dict[str, Any]]:
        uris = shared.manifests.uris_of(view)
        root = uris.root_of(uri)
        path = "" if uri == root else None if root is None else below(root, uri)
        if root is None or path is None:
            raise _no_directory(uri)
        try:
            entry = shared.manifests.entry(root, uris.by_root[root])
        except Unserved:
            raise _no_directory(uri) from None
        children = dict(_children(view, entry, path, uri))
        if not children:
            raise _no_directory(uri)
        rest = [name for name in sorted(children) if after is None or name > after]
        resources = [children[name] for name in rest[:CHILDREN]]
        result: dict[str, Any] = {
            "resources": [
                each.model_dump(by_alias=True, mode="json", exclude_none=True) for each in resources
            ]
        }
        if len(rest) > CHILDREN:
            result["nextCursor"] = cursor_of(rest[CHILDREN - 1])
        return result, [entry.skill]

    return await _answer_with_retry(shared, uri, work)


def _no_directory(uri: str) -> MCPError:
    clean_uri = clean_line(shorten(uri, 200))
    return invalid(f"{clean_uri} is not a directory resource", "not_a_directory", uri=clean_uri)


def _children(view: View, entry: Entry, path: str, uri: str) -> Iterator[tuple[str, Resource]]:
    """Yield (name, resource) of a directory's children; sub-directories once per file."""
    start = f"{path}/" if path else ""
    for file in entry.files:
        if not file.path.startswith(start):
            continue
        name, _, deeper = file.path[len(start) :].partition("/")
        if deeper:
            own = file.uri.split("/")[: uri.count("/") + 2]
            yield name, Resource(uri="/".join(own), name=name, mime_type=DIRECTORY)
        else:
            yield name, _resource(view, entry, file)


_MEDIA = {
    "md": "text/markdown", "markdown": "text/markdown", "mdx": "text/markdown",
    "txt": "text/plain", "csv": "text/csv", "tsv": "text/tab-separated-values",
    "html": "text/html", "htm": "text/html", "css": "text/css", "xml": "application/xml",
    "json": "application/json", "jsonl": "application/jsonl", "yaml": "application/yaml",
    "yml": "application/yaml", "toml": "application/toml", "py": "text/x-python",
    "sh": "text/x-shellscript", "js": "text/javascript", "mjs": "text/javascript",
    "ts": "text/x-typescript", "sql": "application/sql", "svg": "image/svg+xml",
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
    "webp": "image/webp", "pdf": "application/pdf", "zip": "application/zip",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}  # fmt: skip


def media_type(path: str) -> str:
    """Return the media type for a file's extension, independent of the system's table."""
    name = path.rpartition("/")[2]
    if "." not in name:  # LICENSE, Makefile
        return "text/plain"
    return _MEDIA.get(name.rpartition(".")[2].lower(), "application/octet-stream")
