"""The Skills extension (SEP-2640), skills as resources, and as prompts, over the library.

Each function takes a snapshot and returns JSON or SDK values; :mod:`.server` binds them to the
protocol's methods.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator, Mapping
from mimetypes import guess_type
from typing import Any, Literal

from mcp.shared.exceptions import MCPError
from mcp_types import (
    BlobResourceContents,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    RequestParams,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)

from skillyard.base.errors import SkillError
from skillyard.base.invisible import clean
from skillyard.base.text import clean_line, shorten
from skillyard.engine.skill import Skill
from skillyard.serve.mcp.call import cursor_of, invalid, place_in
from skillyard.serve.mcp.local_tools import framed_skill, offered_skills
from skillyard.serve.mcp.manifests import EntryFile, ManifestEntry, Unserved, entry_of, read_file
from skillyard.serve.mcp.skill_uris import SCHEME, SKILL_FILE, below, uris_of
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.snapshot import Snapshot

EXTENSION = "io.modelcontextprotocol/skills"
SETTINGS = {"directoryRead": True}
CACHE_MS = 500
"""Seconds that a client may cache an answer: edits must be visible within a second."""
PAGE = 50
"""Skills per page; an entry is never split."""
CHILDREN = 500
"""Children of a directory per page."""
DIRECTORY = "inode/directory"
META = "io.modelcontextprotocol.skills/"
"""The prefix that the extension requires for metadata of skill resources."""
SCOPE: Literal["private"] = "private"
"""The list of skills is private: shared caches must not store the answers."""


class GetSkillParams(RequestParams):
    """Parameters of ``skills/get``."""

    uri: str


class DirectoryParams(PaginatedRequestParams):
    """Parameters of ``resources/directory/read``."""

    uri: str


Paginated = PaginatedRequestParams | None


def _after(params: Paginated) -> str | None:
    return place_in(None if params is None else params.cursor)


def _page(snapshot: Snapshot, params: Paginated) -> tuple[list[ManifestEntry], str | None]:
    """Return the entries of one page, and the cursor of the next one if there is one."""
    after = _after(params)
    by_root = uris_of(snapshot).by_root
    roots = [root for root in by_root if after is None or root > after]
    entries: list[ManifestEntry] = []
    for root in roots[:PAGE]:
        try:
            entries.append(entry_of(root, by_root[root]))
        except Unserved:
            continue  # the tools serve it, and skills/get explains why the extension does not
    return entries, cursor_of(roots[PAGE - 1]) if len(roots) > PAGE else None


def list_skills(snapshot: Snapshot, params: Paginated) -> dict[str, Any]:
    """Return one page of the entries of all served skills (``skills/list``)."""
    entries, more = _page(snapshot, params)
    result: dict[str, Any] = {"skills": [entry.to_dict() for entry in entries]}
    if more is not None:
        result["nextCursor"] = more
    return result


def get_skill(snapshot: Snapshot, params: GetSkillParams) -> dict[str, Any]:
    """Return the entry of one skill by the URI of its SKILL.md (``skills/get``)."""
    uri, uris = params.uri, uris_of(snapshot)
    root = uri.removesuffix(f"/{SKILL_FILE}")
    skill = uris.by_root.get(root) if root != uri else None
    if skill is None:
        raise _unserved(uri, "skill", _refusal(snapshot, uris.refused, root))
    try:
        return {"skill": entry_of(root, skill).to_dict()}
    except Unserved as error:
        raise _unserved(uri, "skill", str(error)) from None


def _refusal(snapshot: Snapshot, refused: Mapping[str, str], root: str) -> str:
    """Return why the skill that a URI seems to name has none; empty without such a skill."""
    name = root.removeprefix(SCHEME).rpartition("/")[2]
    named = (skill.path for skill in snapshot.whole.candidates if skill.name == name)
    return next((refused[path] for path in named if path in refused), "")


def _unserved(uri: str, kind: str, why: str = "") -> MCPError:
    clean_uri = clean_line(shorten(uri, 200))
    message = f"No {kind} is served at {clean_uri}"
    if why:
        message += f": {why}; load_skill may serve it"
    return invalid(message, "unknown_uri", uri=clean_uri)


def list_resources(snapshot: Snapshot, params: Paginated) -> ListResourcesResult:
    """Return the files of one page of skills (``resources/list``)."""
    entries, more = _page(snapshot, params)
    resources = [_resource(snapshot, entry, file) for entry in entries for file in entry.files]
    return ListResourcesResult(resources=resources, next_cursor=more)


def _resource(snapshot: Snapshot, entry: ManifestEntry, file: EntryFile) -> Resource:
    own = file.path == SKILL_FILE
    return Resource(
        uri=file.uri,
        name=entry.skill.name if own else file.path.rpartition("/")[2],
        description=clean_line(entry.skill.description) if own else None,
        mime_type=_media_type(file.path),
        size=file.size,
        _meta=_meta(snapshot, entry.skill, file.digest),
    )


def _meta(snapshot: Snapshot, skill: Skill, digest: str = "") -> dict[str, Any]:
    meta = {f"{META}origin": snapshot.origin_of(skill)}
    if digest:
        meta[f"{META}digest"] = digest
    return meta


def list_templates() -> ListResourceTemplatesResult:
    """Return the template of the URIs (``resources/templates/list``)."""
    template = ResourceTemplate(
        uri_template="skill://{+path}",
        name="skill file",
        description="A file of a skill, as skills/list and resources/list name it.",
    )
    return ListResourceTemplatesResult(resource_templates=[template])


def read_resource(snapshot: Snapshot, params: ReadResourceRequestParams) -> ReadResourceResult:
    """Return the bytes of one file (``resources/read``), which match its digest."""
    uri, uris = params.uri, uris_of(snapshot)
    root = uris.root_of(uri)
    path = None if root is None else below(root, uri)
    if root is None or path is None:
        raise _unserved(uri, "resource")
    skill = uris.by_root[root]
    try:
        data = read_file(skill, path)
    except (Unserved, SkillError):
        raise _unserved(uri, "resource") from None
    contents = _contents(uri, path, data, _meta(snapshot, skill))
    return ReadResourceResult(contents=[contents])


def _contents(
    uri: str, path: str, data: bytes, meta: dict[str, Any]
) -> TextResourceContents | BlobResourceContents:
    kind = _media_type(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        blob = base64.b64encode(data).decode("ascii")
        return BlobResourceContents(uri=uri, mime_type=kind, blob=blob, _meta=meta)
    return TextResourceContents(uri=uri, mime_type=kind, text=text, _meta=meta)


def read_directory(snapshot: Snapshot, params: DirectoryParams) -> dict[str, Any]:
    """Return the direct children of a directory of a skill (``resources/directory/read``).

    Directories are those that contain a file at any depth; an empty one does not exist.
    """
    after = _after(params)
    uri, uris = params.uri, uris_of(snapshot)
    root = uris.root_of(uri)
    path = "" if uri == root else None if root is None else below(root, uri)
    try:
        if root is None or path is None:
            raise Unserved
        entry = entry_of(root, uris.by_root[root])
        children = dict(_children(snapshot, entry, path, uri))
        if not children:
            raise Unserved
    except Unserved:
        clean_uri = clean_line(shorten(uri, 200))
        message = f"{clean_uri} is not a directory resource"
        raise invalid(message, "not_a_directory", uri=clean_uri) from None
    rest = [name for name in sorted(children) if after is None or name > after]
    resources = [children[name] for name in rest[:CHILDREN]]
    result: dict[str, Any] = {
        "resources": [
            each.model_dump(by_alias=True, mode="json", exclude_none=True) for each in resources
        ]
    }
    if len(rest) > CHILDREN:
        result["nextCursor"] = cursor_of(rest[CHILDREN - 1])
    return result


def _children(
    snapshot: Snapshot, entry: ManifestEntry, path: str, uri: str
) -> Iterator[tuple[str, Resource]]:
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
            yield name, _resource(snapshot, entry, file)


def _media_type(path: str) -> str:
    """Return the media type that a file's extension names, as this system knows it."""
    return guess_type(path)[0] or "application/octet-stream"


PROMPTS = 100
"""Prompts per page: one for each skill that a user may call by name."""
ARGUMENT_CHARS = 20_000
ARGUMENTS = "arguments"


def _skills_by_prompt(snapshot: Snapshot) -> dict[str, Skill]:
    """Return the skills that a user may call by prompt name, sorted.

    Skills that share a name have their id as prompt name.
    """
    skills = [skill for skill in offered_skills(snapshot, hidden=True) if skill.user_invocable]
    counts = Counter(skill.name for skill in skills)
    by_prompt = {(skill.id if counts[skill.name] > 1 else skill.name): skill for skill in skills}
    return dict(sorted(by_prompt.items()))


def list_prompts(snapshot: Snapshot, params: Paginated) -> ListPromptsResult:
    """Return one page of the prompts."""
    after = _after(params)
    rest = [p for p in _skills_by_prompt(snapshot).items() if after is None or p[0] > after]
    page = rest[:PROMPTS]
    more = cursor_of(page[-1][0]) if len(rest) > PROMPTS else None
    prompts = [_prompt(snapshot, name, skill) for name, skill in page]
    return ListPromptsResult(prompts=prompts, next_cursor=more)


def _prompt(snapshot: Snapshot, name: str, skill: Skill) -> Prompt:
    hint = clean_line(skill.hint or "") or "What to do with it, in words."
    return Prompt(
        name=name,
        title=clean_line(skill.title or skill.name),
        description=clean_line(skill.description),
        arguments=[PromptArgument(name=ARGUMENTS, description=shorten(hint, 300), required=False)],
        _meta={"skillyard/origin": snapshot.origin_of(skill)},
    )


def get_prompt(
    context: AppContext, snapshot: Snapshot, params: GetPromptRequestParams
) -> GetPromptResult:
    """Return a skill's framed instructions, followed by the user's text. Raises MCPError."""
    name, values = params.name, dict(params.arguments or {})
    argument_text = values.pop(ARGUMENTS, "")
    if values:
        raise invalid(f"the prompt takes the one argument {ARGUMENTS!r}", "invalid_argument")
    if len(argument_text) > ARGUMENT_CHARS:
        raise invalid(f"{ARGUMENTS} must have at most {ARGUMENT_CHARS:,} characters")
    skill = _skills_by_prompt(snapshot).get(name)
    if skill is None:
        clean_name = clean_line(shorten(name, 200))
        raise invalid(f"No prompt is called {clean_name!r}", "unknown_prompt")
    text = framed_skill(context, snapshot, skill).framed.text
    parts = [text, clean(argument_text)] if argument_text.strip() else [text]
    messages = [
        PromptMessage(role="user", content=TextContent(type="text", text=part)) for part in parts
    ]
    about = clean_line(skill.description)
    return GetPromptResult(description=about, messages=messages)
