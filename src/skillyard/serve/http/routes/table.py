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
_FILE = {"type": "string", "format": "binary"}
_HTML = "text/html"
_FOUND: dict[str, Any] = {"strict": False, "group": "Search"}
_ONE_SKILL: dict[str, Any] = {
    "request": requests.OneSkillRequest,
    "strict": False,
    "tagged": True,
    "group": "Search",
}
_STATE: dict[str, Any] = {"free": True, "group": "Service"}
_PUBLISHED: dict[str, Any] = {"free": True, "tagged": True, "group": "Publication"}
_PAGE: dict[str, Any] = {"media": _HTML, "strict": False, "group": "Pages"}


def _route(operation: Operation, handler: Handler, answer: str, **more: Any) -> HttpRoute:
    """Return the route of an operation."""
    name, about, request, route = operation
    return HttpRoute(*route, name, about, handler, answer, request, **{"group": "Choose", **more})


ROUTES = (
    _route(SEARCH, search.search, "SearchDocument", tagged=True, **_FOUND),
    _route(
        SEARCH._replace(
            name="searchByBody",
            about="The same search, asked in JSON.",
            route=("POST", "/search"),
        ),
        search.search,
        "SearchDocument",
        **_FOUND,
    ),
    HttpRoute(
        "GET",
        "/skill/{name:path}",
        "skillByName",
        "One skill by its exact name, id or slug, or by owner/repo/id from a remote source that"
        " the operator allows.",
        search.by_name,
        "Skill",
        path_request=requests.NamedPath,
        **_ONE_SKILL,
    ),
    HttpRoute(
        "GET",
        "/skills/{source:path}/{id}",
        "skillBySource",
        "One skill by its source and its id there: local, or owner/repo or a domain, from a remote"
        " source that the operator allows.",
        search.by_source,
        "Skill",
        path_request=requests.SourcePath,
        **_ONE_SKILL,
    ),
    _route(RANK, ranking.rank, "Ranked"),
    _route(EVALUATE, ranking.evaluate, "Evaluated", either=("text", "files", "recent_activity")),
    _route(SELECT, ranking.select, "Selected"),
    _route(WHY, ranking.why, "Why"),
    _route(FEEDBACK, ranking.feedback, "FeedbackReceipt"),
    HttpRoute(
        "GET",
        "/health",
        "health",
        "The true state of the service.",
        operations.health,
        "Health",
        **_STATE,
    ),
    HttpRoute(
        "GET",
        "/metrics",
        "metrics",
        "Figures in the text format of Prometheus.",
        operations.metrics,
        _TEXT,
        media=METRICS,
        **_STATE,
    ),
    HttpRoute(
        "GET",
        discovery.INDEX_PATH,
        "wellKnownIndex",
        "The skills that may be fetched, with their digests.",
        discovery.index,
        "WellKnownIndex",
        **_PUBLISHED,
    ),
    # `npx skills` fetches all listed skills at once, and treats refused ones as absent.
    HttpRoute(
        "GET",
        discovery.SKILL_PATH,
        "wellKnownSkill",
        "The SKILL.md of one of them, byte for byte.",
        discovery.skill_file,
        _TEXT,
        path_request=requests.NamedPath,
        media="text/markdown",
        **_PUBLISHED,
    ),
    HttpRoute(
        "GET",
        discovery.ARCHIVE_PATH,
        "wellKnownArchive",
        "All files of one of them that has more than its SKILL.md, as a zip archive.",
        discovery.skill_archive,
        _FILE,
        path_request=requests.NamedPath,
        media="application/zip",
        **_PUBLISHED,
    ),
    HttpRoute(
        "GET",
        "/openapi.json",
        "openapi",
        "This description.",
        operations.openapi,
        {"type": "object"},
        tagged=True,
        **_STATE,
    ),
    HttpRoute(
        "GET",
        "/docs",
        "docs",
        "This description as a page.",
        pages.docs,
        _TEXT,
        media=_HTML,
        tagged=True,
        **_STATE,
    ),
    HttpRoute(
        "GET",
        "/",
        "root",
        "Names and links; to browsers the page, which searches for q.",
        pages.home,
        "Root",
        requests.SearchPage,
        free=True,
        tagged=True,
        **{**_PAGE, "media": JSON},
    ),
    HttpRoute(
        "GET",
        "/page/skills",
        "browsePage",
        "All skills of the catalog by name, some at a time, or those with one tag.",
        pages.browse,
        _TEXT,
        requests.BrowsePage,
        tagged=True,
        **_PAGE,
    ),
    HttpRoute(
        "GET",
        "/page/skills/{source:path}/{id}",
        "skillPage",
        "One skill as a page: what /skills/{source}/{id} answers, rendered.",
        pages.skill,
        _TEXT,
        requests.SkillPage,
        requests.SourcePath,
        tagged=True,
        **_PAGE,
    ),
)
