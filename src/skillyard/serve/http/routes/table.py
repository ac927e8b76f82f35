"""Every route of the service."""

from __future__ import annotations

from typing import Any

from skillyard.base.operation import Operation
from skillyard.engine.operations.skill_explanation import WHY
from skillyard.hosts.operations.recommendations import EVALUATE
from skillyard.hosts.operations.skill_feedback import FEEDBACK
from skillyard.hosts.operations.skill_selection import RANK, SELECT
from skillyard.serve import requests
from skillyard.serve.http.routes import discovery, operations, pages, ranking, search
from skillyard.serve.requests import SEARCH
from skillyard.serve.runtime.app_context import Handler, HttpRoute
from skillyard.serve.runtime.encoding import JSON
from skillyard.serve.runtime.metrics import MEDIA as METRICS

_TEXT = {"type": "string"}
_HTML = "text/html"


def _route(
    operation: Operation, handler: Handler, answer: str, group: str = "Choose", **more: Any
) -> HttpRoute:
    """Return the route of an operation."""
    (method, path), request = operation.route, operation.request
    name, about = operation.name, operation.about
    return HttpRoute(method, path, name, about, handler, answer, request, group=group, **more)


def _state(
    path: str, name: str, about: str, handler: Handler, answer: str | dict[str, Any], **more: Any
) -> HttpRoute:
    """Return a route that is served however busy the service is."""
    more = {"group": "Service", **more}
    return HttpRoute("GET", path, name, about, handler, answer, free=True, **more)


def _one_skill(
    path: str, name: str, about: str, handler: Handler, path_request: type, *refusals: int
) -> HttpRoute:
    """Return a route that answers with one skill, as a program reads it."""
    return HttpRoute(
        "GET",
        path,
        name,
        about,
        handler,
        "Skill",
        requests.OneSkillRequest,
        path_request,
        refusals=(*refusals, 404, 409, 502),
        strict=False,
        tagged=True,
        group="Search",
    )


def _page(
    method: str,
    path: str,
    name: str,
    about: str,
    handler: Handler,
    request: type,
    *refusals: int,
    **more: Any,
) -> HttpRoute:
    """Return the route of a page; one of POST answers what the form of the page sends."""
    form = method == "POST"
    more = {"media": _HTML, "tagged": not form, "form": form, "group": "Pages", **more}
    return HttpRoute(
        method,
        path,
        name,
        about,
        handler,
        more.pop("answer", _TEXT),
        request,
        refusals=refusals,
        strict=False,
        **more,
    )


ROUTES = (
    _route(
        SEARCH,
        search.search,
        "SearchResult",
        "Search",
        refusals=(502,),
        strict=False,
        tagged=True,
    ),
    _route(
        SEARCH._replace(
            name="searchByBody",
            about="The same search, asked in JSON.",
            route=("POST", "/search"),
        ),
        search.search,
        "SearchResult",
        "Search",
        refusals=(502,),
        strict=False,
    ),
    _one_skill(
        "/skill/{name:path}",
        "skillByName",
        "One skill by its exact name, id or slug, or by owner/repo/id from a remote source that"
        " the operator allows.",
        search.by_name,
        requests.NamedPath,
        400,
    ),
    _one_skill(
        "/skills/{source:path}/{id}",
        "skillBySource",
        "One skill by its source and its id there: local, or owner/repo or a domain, from a remote"
        " source that the operator allows.",
        search.by_source,
        requests.SourcePath,
    ),
    _route(RANK, ranking.rank, "Ranked"),
    _route(EVALUATE, ranking.evaluate, "Evaluated", either=("text", "files", "recent_activity")),
    _route(SELECT, ranking.select, "Selected"),
    _route(WHY, ranking.why, "Why", refusals=(404, 409)),
    _route(FEEDBACK, ranking.feedback, "FeedbackReceipt", refusals=(404, 409, 503)),
    _state(
        "/health",
        "health",
        "The true state of the service.",
        operations.health,
        "Health",
        refusals=(503,),
    ),
    _state(
        "/metrics",
        "metrics",
        "Figures in the text format of Prometheus.",
        operations.metrics,
        _TEXT,
        media=METRICS,
    ),
    _state(
        discovery.INDEX_PATH,
        "wellKnownIndex",
        "The skills that may be fetched, with their digests.",
        discovery.index,
        "WellKnownIndex",
        refusals=(503,),
        tagged=True,
        group="Publication",
    ),
    # `npx skills` fetches all listed skills at once, and treats refused ones as absent.
    _state(
        discovery.SKILL_PATH,
        "wellKnownSkill",
        "The SKILL.md of one of them, byte for byte.",
        discovery.skill_file,
        _TEXT,
        path_request=requests.NamedPath,
        refusals=(404, 503),
        media="text/markdown",
        tagged=True,
        group="Publication",
    ),
    _state(
        discovery.ARCHIVE_PATH,
        "wellKnownArchive",
        "All files of one of them that has more than its SKILL.md, as a zip archive.",
        discovery.skill_archive,
        {"type": "string", "format": "binary"},
        path_request=requests.NamedPath,
        refusals=(404, 503),
        media="application/zip",
        tagged=True,
        group="Publication",
    ),
    _state(
        "/openapi.json",
        "openapi",
        "This description.",
        operations.openapi,
        {"type": "object"},
        tagged=True,
    ),
    _state(
        "/docs", "docs", "This description as a page.", pages.docs, _TEXT, media=_HTML, tagged=True
    ),
    _page(
        "GET",
        "/",
        "root",
        "Names and links; to browsers the page, which searches for q.",
        pages.home,
        requests.SearchPage,
        429,
        502,
        503,
        free=True,
        media=JSON,
        answer="Root",
    ),
    _page(
        "POST",
        "/",
        "rootByForm",
        "The same page for what its form sends: a request that is too long for an address.",
        pages.home_by_form,
        requests.SearchPage,
        502,
    ),
    _page(
        "GET",
        "/page/skills",
        "browsePage",
        "All skills of the catalog by name, some at a time, or those with one tag.",
        pages.browse,
        requests.BrowsePage,
    ),
    _page(
        "GET",
        "/page/skills/{source:path}/{id}",
        "skillPage",
        "One skill as a page: what /skills/{source}/{id} answers, rendered.",
        pages.skill,
        requests.SkillPage,
        404,
        409,
        502,
        path_request=requests.SourcePath,
    ),
)
