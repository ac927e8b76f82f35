"""Every route of the service."""

from __future__ import annotations

from functools import partial

from skillyard.base.operation import Operation
from skillyard.engine.operations.skill_explanation import WHY
from skillyard.hosts.operations.recommendations import EVALUATE
from skillyard.hosts.operations.skill_feedback import FEEDBACK
from skillyard.hosts.operations.skill_selection import RANK, SELECT
from skillyard.serve import requests
from skillyard.serve.http.routes import discovery, operations, pages, ranking, search
from skillyard.serve.requests import SEARCH
from skillyard.serve.runtime.app_context import Handler, HttpRoute
from skillyard.serve.runtime.metrics import MEDIA as METRICS

_TEXT = {"type": "string"}
_FILE = {"type": "string", "format": "binary"}
_HTML = "text/html"


def _route(
    operation: Operation, handler: Handler, answer: str, either: tuple[str, ...] = ()
) -> HttpRoute:
    name, about, request, route = operation
    return HttpRoute(*route, name, about, handler, answer, request, either=either, group="Choose")


_search = partial(
    HttpRoute,
    handler=search.search,
    answer="SearchDocument",
    request=SEARCH.request,
    strict=False,
    group="Search",
)
_skill = partial(
    HttpRoute,
    "GET",
    answer="SkillDocument",
    request=requests.OneSkillRequest,
    strict=False,
    tagged=True,
    group="Search",
)
_state = partial(HttpRoute, "GET", free=True, group="Service")
_published = partial(HttpRoute, "GET", free=True, tagged=True, group="Publication")

ROUTES = (
    _search("GET", "/search", SEARCH.name, SEARCH.about, tagged=True),
    _search("POST", "/search", "searchByBody", "The same search, asked in JSON."),
    _skill(
        "/skill/{name:path}",
        "skillByName",
        "One skill by its exact name, id or slug, or by owner/repo/id from a remote source that"
        " the operator allows.",
        search.by_name,
        path_request=requests.NamedPath,
    ),
    _skill(
        "/skills/{source:path}/{id}",
        "skillBySource",
        "One skill by its source and its id there: local, or owner/repo or a domain, from a remote"
        " source that the operator allows.",
        search.by_source,
        path_request=requests.SourcePath,
    ),
    _route(RANK, ranking.rank, "Ranked"),
    _route(EVALUATE, ranking.evaluate, "Evaluated", ("text", "files", "recent_activity")),
    _route(SELECT, ranking.select, "Selected"),
    _route(WHY, ranking.why, "Why"),
    _route(FEEDBACK, ranking.feedback, "FeedbackReceipt"),
    _state("/health", "health", "The true state of the service.", operations.health, "Health"),
    _state(
        "/metrics",
        "metrics",
        "Figures in the text format of Prometheus.",
        operations.metrics,
        _TEXT,
        media=METRICS,
    ),
    _published(
        discovery.INDEX_PATH,
        "wellKnownIndex",
        "The skills that may be fetched, with their digests.",
        discovery.index,
        "WellKnownIndex",
    ),
    # `npx skills` fetches all listed skills at once, and treats refused ones as absent.
    _published(
        discovery.SKILL_PATH,
        "wellKnownSkill",
        "The SKILL.md of one of them, byte for byte.",
        discovery.skill_file,
        _TEXT,
        path_request=requests.NamedPath,
        media="text/markdown",
    ),
    _published(
        discovery.ARCHIVE_PATH,
        "wellKnownArchive",
        "All files of one of them that has more than its SKILL.md, as a zip archive.",
        discovery.skill_archive,
        _FILE,
        path_request=requests.NamedPath,
        media="application/zip",
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
    HttpRoute(
        "GET",
        "/",
        "root",
        "Names and links; to browsers the page, which searches for q.",
        pages.home,
        "RootDocument",
        requests.SearchPage,
        free=True,
        strict=False,
        tagged=True,
        group="Pages",
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
        strict=False,
        media=_HTML,
        tagged=True,
        group="Pages",
    ),
)
