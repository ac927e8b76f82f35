"""The ASGI application: the gate that every request passes, and the routes behind it."""

from __future__ import annotations

import re
import secrets
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from http import HTTPMethod
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.routing import Route as StarletteRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skillyard.base.errors import SkillyardError
from skillyard.base.operation import Field
from skillyard.serve.http.routes.pages import refusal_reply
from skillyard.serve.http.routes.table import ROUTES
from skillyard.serve.mcp.http_app import MCP_PATH, McpApp
from skillyard.serve.runtime.app_context import (
    CURRENT_SNAPSHOT,
    ROUTE,
    AppContext,
    HttpRoute,
    RouteRequest,
)
from skillyard.serve.runtime.encoding import SAFE_HEADERS, Reply, matches, tag_of
from skillyard.serve.runtime.errors import Refused, refusal_of
from skillyard.serve.runtime.fields import from_json, from_query, read_values
from skillyard.serve.runtime.guards import header_of
from skillyard.serve.runtime.logging import Log, cause_of
from skillyard.serve.runtime.options import ServiceOptions

REQUEST_ID = "skillyard.request_id"
AUTHORITY = "skillyard.authority"
"""Key of the scope for the validated host and port that the client used."""
_READS = ("GET", "HEAD")
COMPRESSED_BYTES = 1_024
"""Bytes from which compression is worthwhile."""
LEVEL = 5
SWITCH_S = 0.0005
"""Seconds after which a computing thread yields (Python's default is 0.005). A response passes
through several threads, and each may have to wait for a computing one."""
_STATIC = Path(__file__).parent.parent / "web" / "static"
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


def create_app(
    options: ServiceOptions | None = None,
    *,
    log: Log | None = None,
    routes: Sequence[HttpRoute] = ROUTES,
) -> Starlette:
    """Return the application. Raises SkillyardError for invalid options and settings.

    The catalog is opened when the application starts (or with the first request that needs it), and
    closed with its lifespan. Without ``routes`` it serves MCP alone.
    """
    context = AppContext(options or ServiceOptions(), routes, log)
    by_pattern: dict[str, dict[str, HttpRoute]] = {}
    for route in routes:
        by_pattern.setdefault(route.pattern, {})[route.method] = route
    resources: list[BaseRoute] = [
        StarletteRoute(pattern, _Resource(context, methods))
        for pattern, methods in by_pattern.items()
    ]
    mcp = McpApp(context)
    # Clients are configured with either address, and a redirect would lose the POST's body.
    resources += [StarletteRoute(path, mcp) for path in (MCP_PATH, f"{MCP_PATH}/")]
    if routes:
        resources.append(Mount("/static", _Assets(directory=_STATIC)))
    handlers = {HTTPException: _no_route}
    app = Starlette(routes=resources, exception_handlers=handlers, lifespan=_lifespan)
    app.router.redirect_slashes = False  # one address per resource, without redirects
    app.state.context = context
    app.state.mcp = mcp
    app.add_middleware(GZipMiddleware, minimum_size=COMPRESSED_BYTES, compresslevel=LEVEL)
    app.add_middleware(_Gate, context=context)
    return app


def serve_mcp(options: ServiceOptions | None = None) -> None:
    """Serve MCP alone, at ``/mcp``, as :func:`serve` does."""
    serve(options, routes=())


def serve(options: ServiceOptions | None = None, *, routes: Sequence[HttpRoute] = ROUTES) -> None:
    """Serve until SIGTERM or SIGINT; then finish the running requests and return.

    Raises InvalidSkillsRoot for a root that is not a folder, InvalidInput for an address that
    cannot be listened on, and the errors of :func:`create_app`.
    """
    from skillyard.serve.runtime.server import Server, announce, listening_socket  # loads uvicorn

    options = options or ServiceOptions()
    options.check_roots()
    log = Log(options.log_format)
    sys.setswitchinterval(SWITCH_S)
    server = Server(create_app(options, log=log, routes=routes), options, log)
    with listening_socket(options) as sock:
        announce(log, sock, options, "" if routes else MCP_PATH)
        server.run([sock])
    log.flush()
    log.write("stopped")


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    context: AppContext = app.state.context
    context.follower.refresh()  # requests wait for it; /health reports the start
    try:
        async with app.state.mcp.running():
            yield
    finally:
        await context.close()


class _Assets(StaticFiles):
    """What the pages load: a style sheet, a script, an icon. Browsers ask whether they changed."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        scope[ROUTE] = "/static"
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "no-cache"
        return response


async def _no_route(request: Request, error: Exception) -> Response:
    alone = not request.app.state.context.routes
    hint = f"MCP is at {MCP_PATH}" if alone else "see /docs"
    refused = Refused(404, "no_route", "there is nothing at this path", hint=hint)
    return _response(_reply_of(refused, request.scope, bare=alone))


class _Gate:
    """Guards, request id, headers, log line and metrics of every request. None ends another."""

    def __init__(self, app: ASGIApp, context: AppContext) -> None:
        self._app = app
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        context = self._context
        # Probes come every second and skip guards, log and metrics.
        probe = context.probe(scope["path"]) if scope["method"] in _READS else None
        if probe is not None:
            status, body = probe
            await PlainTextResponse(body, status, SAFE_HEADERS)(scope, receive, send)
            return
        given = header_of(scope, b"x-request-id")
        scope[REQUEST_ID] = given if _ID.fullmatch(given) else secrets.token_hex(8)
        start = time.perf_counter()
        status = size = 0
        has_body = bool(header_of(scope, b"transfer-encoding"))
        has_body = has_body or header_of(scope, b"content-length") not in ("", "0")

        async def send_piece(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in SAFE_HEADERS.items():
                    headers.setdefault(name, value)
                headers["x-request-id"] = scope[REQUEST_ID]
                if has_body and (status >= 400 or scope["method"] != "POST"):
                    headers["connection"] = "close"  # the body may be unread, and never end
            elif message["type"] == "http.response.body" and scope["method"] != "HEAD":
                size += len(message.get("body", b""))
            await send(message)

        context.metrics.in_flight += 1
        inside = False
        try:
            scope[AUTHORITY] = context.guard.check(scope)
            inside = True
            await self._app(scope, receive, send_piece)
        except Refused as refused:
            _log_refusal(context.log, refused, scope, cause_of(refused))
            # A refused client may not load the assets of a page either.
            reply = _reply_of(refused, scope, bare=not inside)
            await _response(reply)(scope, receive, send_piece)
        except Exception as error:  # noqa: BLE001 - one request never ends another
            context.log.write_failure(error, id=scope[REQUEST_ID])
            if not status:
                reply = _reply_of(refusal_of(SkillyardError()), scope)
                await _response(reply)(scope, receive, send_piece)
        finally:
            context.metrics.in_flight -= 1
            seconds = time.perf_counter() - start
            method = scope["method"] if scope["method"] in HTTPMethod.__members__ else "other"
            route = scope.get(ROUTE, "other")
            context.metrics.note(route, method, status, seconds)
            context.log.write(
                "request",
                id=scope[REQUEST_ID],
                method=method,
                route=route,
                status=status,
                ms=round(seconds * 1000, 3),
                bytes=size,
            )


def _log_refusal(
    log: Log, refused: Refused, scope: Scope, cause: BaseException | None = None
) -> None:
    place = {"id": scope[REQUEST_ID], "route": scope.get(ROUTE, "other")}
    log.write_refusal(refused.code, refused.message, status=refused.status, cause=cause, **place)


class _Resource:
    """The routes of one path by method, with HEAD and OPTIONS."""

    def __init__(self, context: AppContext, routes: Mapping[str, HttpRoute]) -> None:
        self._context = context
        self._routes = {
            method: (route, route.fields, route.path_fields) for method, route in routes.items()
        }
        self._path = next(iter(routes.values())).path
        allowed = {*routes, "OPTIONS"} | ({"HEAD"} if "GET" in routes else set())
        self._allow = ", ".join(sorted(allowed))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        scope[ROUTE] = self._path
        if method == "OPTIONS":
            reply = self._options(scope)
        elif method in self._routes:
            reply = await self._answer(*self._routes[method], scope, receive)
            snapshot = CURRENT_SNAPSHOT.get()
            if snapshot is not None:  # also a 404 names the generation that it comes from
                generation = self._context.follower.headers(snapshot)
                reply = reply._replace(headers={**reply.headers, **generation})
            if reply.tagged and reply.status == 200:
                reply = _with_etag(reply, header_of(scope, b"if-none-match"))
        else:
            message, headers = f"this path answers {self._allow}", {"Allow": self._allow}
            raise Refused(405, "method_not_allowed", message, headers=headers)
        await _response(reply)(scope, receive, send)

    def _options(self, scope: Scope) -> Reply:
        headers = {"Allow": self._allow}
        origin = header_of(scope, b"origin")
        if scope[ROUTE].startswith("/.well-known/") and self._context.guard.allows(origin):
            headers |= {
                "Access-Control-Allow-Origin": origin,
                "Access-Control-Allow-Methods": "GET, HEAD",
                "Access-Control-Allow-Headers": "Authorization, If-None-Match",
                "Access-Control-Max-Age": "600",
                "Vary": "Origin",
            }
        return Reply(b"", "", 204, headers)

    async def _answer(
        self,
        route: HttpRoute,
        fields: tuple[Field, ...],
        path_fields: tuple[Field, ...],
        scope: Scope,
        receive: Receive,
    ) -> Reply:
        """Parse the request, wait for a slot, and call the route."""
        context, reads = self._context, route.method == "GET"
        try:
            path_values = read_values(path_fields, scope["path_params"], "path")
            if reads:
                values = from_query(fields, scope["query_string"], strict=route.strict)
            else:
                body = await context.guard.body(scope, receive)
                parse = partial(from_json, fields, body, strict=route.strict)
                values = await context.in_thread(parse)
            request = RouteRequest(
                {**values, **path_values},
                f"{scope['scheme']}://{scope[AUTHORITY]}",
                header_of(scope, b"origin"),
                header_of(scope, b"accept"),
            )
            async with nullcontext() if route.free else context.guard.slot():
                return await route.handler(context, request)
        except Refused as error:
            refused, cause = error, cause_of(error)
        except SkillyardError as error:
            refused, cause = refusal_of(error, "query" if reads else "body"), error
        _log_refusal(context.log, refused, scope, cause)
        return _reply_of(refused, scope, page=route.media == "text/html")


def _with_etag(reply: Reply, if_none_match: str) -> Reply:
    """Return the response with its entity tag, or the 304 of one that the client has."""
    tag = tag_of(reply.basis or reply.body)
    reply = reply._replace(headers={"Cache-Control": "no-cache", **reply.headers, "ETag": tag})
    return reply._replace(body=b"", media="", status=304) if matches(tag, if_none_match) else reply


def _reply_of(refused: Refused, scope: Scope, *, page: bool = False, bare: bool = False) -> Reply:
    return refusal_reply(refused, header_of(scope, b"accept"), page=page, bare=bare)


def _response(reply: Reply) -> Response:
    return Response(reply.body, reply.status, dict(reply.headers), media_type=reply.media or None)
