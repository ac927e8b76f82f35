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
from skillyard.serve.runtime.app_context import Handler, HttpRoute
from skillyard.serve.runtime.metrics import MEDIA as METRICS

_TEXT = {"type": "string"}


def _page(
    method: str,
    pattern: str,
    name: str,
    about: str,
    handler: Handler,
    request: type,
    path_request: type | None = None,
    refusals: tuple[int, ...] = (),
) -> HttpRoute:
    """Return the route of a page; one of POST answers what the form of the page sends."""
    return HttpRoute(
        method,
        pattern,
        name,
        about,
        handler,
        _TEXT,
        request,
        path_request,
        refusals=refusals,
        strict=False,
        media="text/html",
        tagged=method == "GET",
        form=method == "POST",
        group="Pages",
    )


def _route(operation: Operation, handler: Handler, answer: str, **more: Any) -> HttpRoute:
    """Return the route of an operation."""
    method, path = operation.route
    return HttpRoute(
        method,
        path,
        operation.name,
        operation.about,
        handler,
        answer,
        operation.request,
        group="Choose",
        **more,
    )


ROUTES = (
    HttpRoute(
        "GET",
        "/search",
        "search",
        "Search the catalog and the remotes; best first, each with its content.",
        search.search,
        "SearchResult",
        requests.SearchRequest,
        refusals=(502,),
        strict=False,
        tagged=True,
        group="Search",
    ),
    HttpRoute(
        "POST",
        "/search",
        "searchByBody",
        "The same search, asked in JSON.",
        search.search,
        "SearchResult",
        requests.SearchRequest,
        refusals=(502,),
        strict=False,
        group="Search",
    ),
    HttpRoute(
        "GET",
        "/skill/{name:path}",
        "skillByName",
        "One skill by its exact name, id or slug, or by owner/repo/id from a remote source that"
        " the operator allows.",
        search.by_name,
        "Skill",
        requests.OneSkillRequest,
        requests.NamedPath,
        refusals=(400, 404, 409, 502),
        strict=False,
        tagged=True,
        group="Search",
    ),
    HttpRoute(
        "GET",
        "/skills/{source:path}/{id}",
        "skillBySource",
        "One skill by its source and its id there: local, or owner/repo or a domain, from a remote"
        " source that the operator allows.",
        search.by_source,
        "Skill",
        requests.OneSkillRequest,
        requests.SourcePath,
        refusals=(404, 409, 502),
        strict=False,
        tagged=True,
        group="Search",
    ),
    _route(
        RANK,
        ranking.rank,
        "Ranked",
    ),
    _route(
        EVALUATE,
        ranking.evaluate,
        "Evaluated",
        either=("text", "files", "recent_activity"),
    ),
    _route(
        SELECT,
        ranking.select,
        "Selected",
    ),
    _route(
        WHY,
        ranking.why,
        "Why",
        refusals=(404, 409),
    ),
    _route(
        FEEDBACK,
        ranking.feedback,
        "FeedbackReceipt",
        refusals=(404, 409, 503),
    ),
    HttpRoute(
        "GET",
        "/health",
        "health",
        "The true state of the service.",
        operations.health,
        "Health",
        refusals=(503,),
        free=True,
        group="Service",
    ),
    HttpRoute(
        "GET",
        "/metrics",
        "metrics",
        "Figures in the text format of Prometheus.",
        operations.metrics,
        _TEXT,
        free=True,
        media=METRICS,
        group="Service",
    ),
    HttpRoute(
        "GET",
        discovery.INDEX_PATH,
        "wellKnownIndex",
        "The skills that may be fetched, with their digests.",
        discovery.index,
        "WellKnownIndex",
        refusals=(503,),
        free=True,
        tagged=True,
        group="Publication",
    ),
    HttpRoute(
        "GET",
        discovery.SKILL_PATH,
        "wellKnownSkill",
        "The SKILL.md of one of them, byte for byte.",
        discovery.skill_file,
        _TEXT,
        path_request=requests.NamedPath,
        refusals=(404, 503),
        # `npx skills` fetches all listed skills at once, and treats refused ones as absent.
        free=True,
        media="text/markdown",
        tagged=True,
        group="Publication",
    ),
    HttpRoute(
        "GET",
        discovery.ARCHIVE_PATH,
        "wellKnownArchive",
        "All files of one of them that has more than its SKILL.md, as a zip archive.",
        discovery.skill_archive,
        {"type": "string", "format": "binary"},
        path_request=requests.NamedPath,
        refusals=(404, 503),
        free=True,
        media="application/zip",
        tagged=True,
        group="Publication",
    ),
    HttpRoute(
        "GET",
        "/openapi.json",
        "openapi",
        "This description.",
        operations.openapi,
        {"type": "object"},
        free=True,
        tagged=True,
        group="Service",
    ),
    HttpRoute(
        "GET",
        "/docs",
        "docs",
        "This description as a page.",
        pages.docs,
        _TEXT,
        free=True,
        media="text/html",
        tagged=True,
        group="Service",
    ),
    HttpRoute(
        "GET",
        "/",
        "root",
        "Names and links; to browsers the page, which searches for q.",
        pages.home,
        "Root",
        requests.SearchPage,
        refusals=(429, 502, 503),
        strict=False,
        free=True,
        tagged=True,
        group="Pages",
    ),
    _page(
        "POST",
        "/",
        "rootByForm",
        "The same page for what its form sends: a request that is too long for an address.",
        pages.home_by_form,
        requests.SearchPage,
        refusals=(502,),
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
        requests.SourcePath,
        refusals=(404, 409, 502),
    ),
)
