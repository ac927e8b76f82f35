"""The MCP server: binds each method of the protocol to one function over the library.

The official SDK's low-level server handles framing, negotiation and cancellation. This module does
not depend on a transport.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar, get_args

import mcp_types as types
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
)
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from skillyard.base.errors import SkillError
from skillyard.base.text import clean_line, shorten
from skillyard.base.version import __version__
from skillyard.serve.mcp import extension
from skillyard.serve.mcp.call import Answer, failure_of, invalid, log_failure, protocol_error
from skillyard.serve.mcp.local_tools import MAX_LISTED_SKILLS
from skillyard.serve.mcp.skill_uris import SKILL_FILE, URI_CHARS, uris_of
from skillyard.serve.mcp.tools import (
    ARGUMENTS,
    FIELDS,
    INSTRUCTIONS,
    TOOLS,
    describe_tools,
    tools_of,
)
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.fields import read_values
from skillyard.serve.runtime.snapshot import Snapshot

Context = ServerRequestContext[Any, Any]
R = TypeVar("R")
Method = Callable[[Context, Any], Awaitable[R]]
CALLS = 1_024
"""Maximum number of open notification streams."""
SUBSCRIPTIONS = 1_000
"""Maximum number of resources that one client of the older era may subscribe to."""
PATIENCE_S = 5.0
"""Seconds that one client may take to accept one notification."""


class SkillServer(Server[AppContext]):
    """The low-level server, which declares that its lists change."""

    def __init__(self, context: AppContext) -> None:
        """Serves a context's catalog and sources; the caller closes the context."""
        self._context = context
        self._bus = InMemorySubscriptionBus()
        self._tools = tools_of(
            all_tools=context.options.tools == "all", feedback=context.options.feedback
        )
        self._turn = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        context.follower.listen(
            lambda before, after: self._start(self._notify_clients(before, after))
        )
        guard, reading = self._guarded, self._reading
        hint = CacheHint(ttl_ms=extension.CACHE_MS, scope=extension.SCOPE)
        super().__init__(
            "skillyard",
            version=__version__,
            title="skillyard: agent skills",
            instructions=INSTRUCTIONS,
            cache_hints=dict.fromkeys(get_args(CacheableMethod), hint),
            lifespan=self._running,
            get_tool_input_schema=ARGUMENTS.get,
            on_list_tools=guard(self._list_tools),
            on_list_resources=reading(extension.list_resources),
            on_list_resource_templates=guard(self._list_templates),
            on_read_resource=reading(extension.read_resource),
            on_subscribe_resource=guard(self._subscribe),
            on_unsubscribe_resource=guard(self._unsubscribe),
            on_subscriptions_listen=ListenHandler(self._bus, max_subscriptions=CALLS),
            on_list_prompts=reading(extension.list_prompts),
            on_get_prompt=reading(partial(extension.get_prompt, context)),
        )
        self.extensions = {extension.EXTENSION: dict(extension.SETTINGS)}
        add = self.add_request_handler
        add("tools/call", types.CallToolRequestParams, guard(self._call_tool))
        add("skills/list", types.PaginatedRequestParams, reading(extension.list_skills, hints=True))
        add("skills/get", extension.GetSkillParams, reading(extension.get_skill, hints=True))
        params_type = extension.DirectoryParams
        add("resources/directory/read", params_type, reading(extension.read_directory))
        self.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self._on_initialized
        )

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Declare that prompts and resources may change, for every transport."""
        options = notification_options or NotificationOptions(True, True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)

    @asynccontextmanager
    async def _running(self, server: Server[AppContext]) -> AsyncIterator[AppContext]:
        """Follow the files while the server runs."""
        loop = asyncio.get_running_loop()
        following = loop.create_task(self._context.follower.keep_fresh())
        try:
            yield self._context
        finally:
            for task in (following, *self._tasks):
                task.cancel()
                await asyncio.wait({task})

    def _guarded(self, method: Method[R]) -> Method[R]:
        """Return the method with a concurrency slot, and with errors mapped to MCP's."""

        async def run(ctx: Context, params: Any) -> R:
            try:
                async with self._context.guard.slot():
                    return await method(ctx, params)
            except Exception as error:  # noqa: BLE001 - none of another kind leaves here
                raise protocol_error(self._context.log, ctx.method, error) from None

        return run

    def _reading(self, work: Callable[[Snapshot, Any], R], *, hints: bool = False) -> Method[R]:
        """Return the method that answers with ``work`` for a fresh snapshot.

        ``hints`` adds the cache hints, which exist since revision 2026-07-28, to a dictionary.
        """

        async def method(ctx: Context, params: Any) -> R:
            result: Any = await self._context.answer(lambda snapshot: work(snapshot, params))
            if hints and ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
                result |= {"ttlMs": extension.CACHE_MS, "cacheScope": extension.SCOPE}
            return result  # type: ignore[no-any-return]

        return self._guarded(method)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _notify_clients(self, before: Snapshot, after: Snapshot) -> None:
        """Notify clients of a change. The URIs of the changed skills are computed in a thread."""
        async with self._turn:
            updated = await self._context.in_thread(_changed_uris, before, after)
            events: list[ServerEvent] = [ResourcesListChanged(), PromptsListChanged()]
            for event in (*events, *(ResourceUpdated(uri=uri) for uri in updated)):
                await self._bus.publish(event)

    async def _on_initialized(self, ctx: Context, params: Any) -> None:
        """Notify a client of the older era from now on."""
        self._followed(ctx)

    def _followed(self, ctx: Context) -> set[str]:
        """Return the resources that a client of the older era subscribed to.

        It is notified of these, and of changes of the lists, until its connection closes. A client
        that does not read is left out, never waited for.
        """
        session = ctx.session
        # The SDK has no public way from a request to its connection. Its exit stack is the
        # documented place for this, and the version is pinned below 3.
        connection = session._connection
        followed: set[str] = connection.state.setdefault("skillyard", set())
        if "skillyard.told" not in connection.state:

            def tell(event: ServerEvent) -> None:
                if not isinstance(event, ResourceUpdated) or event.uri in followed:
                    self._start(_notify(session, event))

            connection.state["skillyard.told"] = True
            connection.exit_stack.callback(self._bus.subscribe(tell))
        return followed

    async def _list_tools(self, ctx: Context, params: Any) -> types.ListToolsResult:
        _no_cursor(params)
        return types.ListToolsResult(tools=describe_tools(self._tools))

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> dict[str, Any]:
        """Run a tool. Its failure is a result with an error, so that the model can correct it.

        The result is already JSON. The SDK validates it again in any case, and a model object would
        only be serialised first.
        """
        tool = self._tools.get(params.name)
        if tool is None:
            find = partial(_unknown_tool, params.name, self._tools)
            raise await self._context.answer(find)
        try:
            # Models write numbers as text, too.
            fields = FIELDS[params.name]
            values = read_values(fields, params.arguments or {}, params.name, from_text=True)
            request = tool.request(**values)
            run = partial(tool.run, self._context, request)
            answer: Answer = await (run() if tool.remote else self._context.answer(run))
        except Exception as error:
            failure = failure_of(error)
            if failure is None:
                raise
            log_failure(self._context.log, failure, error, method=ctx.method, tool=params.name)
            return _result(failure.message, isError=True, _meta={"skillyard/code": failure.code})
        return _result(answer.text, structuredContent=answer.structured)

    async def _list_templates(self, ctx: Context, params: Any) -> types.ListResourceTemplatesResult:
        _no_cursor(params)
        return extension.list_templates()

    async def _subscribe(
        self, ctx: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        followed = self._followed(ctx)
        if len(params.uri) > URI_CHARS or len(followed - {params.uri}) >= SUBSCRIPTIONS:
            raise invalid("too many subscriptions, or too long a URI")
        followed.add(params.uri)
        return types.EmptyResult()

    async def _unsubscribe(
        self, ctx: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        self._followed(ctx).discard(params.uri)
        return types.EmptyResult()


def _changed_uris(before: Snapshot, after: Snapshot) -> list[str]:
    """Return the URIs of the skills that are changed in the later snapshot."""
    try:
        _, changed, _ = before.whole.difference(after.whole)
        if not changed or len(after.whole) > MAX_LISTED_SKILLS:
            return []
        roots = uris_of(after).roots
    except SkillError:  # a node's index is damaged; it is rebuilt, and that is announced
        return []
    return [f"{roots[skill.path]}/{SKILL_FILE}" for skill in changed if skill.path in roots]


async def _notify(session: ServerSession, event: ServerEvent) -> None:
    """Send one notification to one client. A client that is gone is not an error."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            if isinstance(event, ResourcesListChanged):
                await session.send_resource_list_changed()
            elif isinstance(event, PromptsListChanged):
                await session.send_prompt_list_changed()
            elif isinstance(event, ResourceUpdated):
                await session.send_resource_updated(event.uri)
    except Exception:  # noqa: BLE001 - a notification is never owed, and its reader may be anyone
        return


def _unknown_tool(name: str, offered: Iterable[str], snapshot: Snapshot) -> MCPError:
    if name in TOOLS:
        all_tools = "`serve --tools all` or SKILLYARD_TOOLS=all"
        how = "`serve --feedback`" if TOOLS[name].stores else all_tools
        return invalid(f"This server does not offer {name}: its operator offers it with {how}")
    clean_name = clean_line(shorten(name, 100))
    for spelling in (name, name.replace("_", "-")):
        if snapshot.whole.named(spelling):
            return invalid(f"{clean_name!r} is a skill, not a tool: load_skill brings it")
    return invalid(f"Unknown tool: {clean_name!r}; the tools are {', '.join(offered)}")


def _result(text: str, **more: Any) -> dict[str, Any]:
    """Return a ``CallToolResult``; ``resultType`` is dropped for revisions before 2026-07-28."""
    content = [{"type": "text", "text": text}]
    return {"content": content, "isError": False, "resultType": "complete", **more}


def _no_cursor(params: types.PaginatedRequestParams | None) -> None:
    if params is not None and params.cursor is not None:
        raise invalid("cursor: this list has one page", "bad_cursor")
