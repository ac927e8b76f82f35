"""The pages for people: ``/``, ``/docs``, ``/page/…``, and refusals as pages.

With a bearer token set, a browser cannot send it, and the pages return 401 with a page that names
the alternatives: a reverse proxy that adds the header, or loopback without a token. The token is
never read from an address or a cookie, because addresses are stored in histories and logs, and
browsers send cookies with requests that other sites make.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from skillyard.base.errors import SkillError, SkillyardError
from skillyard.engine.operations.skill_explanation import WhyResult, why_skill
from skillyard.engine.ranking.match import Match, rank
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import scorer_names
from skillyard.engine.resources import Resource, list_resources
from skillyard.hosts.operations.skill_selection import SelectResult, select_skills
from skillyard.install.search import FoundSkill, SearchResult, SourceStatus
from skillyard.install.sources.settings import LOCAL
from skillyard.serve.http.routes import operations
from skillyard.serve.runtime.app_context import AppContext, RouteRequest
from skillyard.serve.runtime.encoding import Reply, json_reply, prefers_html
from skillyard.serve.runtime.errors import BUILDING, Refused, refusal_of
from skillyard.serve.runtime.local import hit_of
from skillyard.serve.runtime.skill_lookup import skill_by_source
from skillyard.serve.runtime.snapshot import Ranking, Snapshot
from skillyard.serve.web.rendering import BARE_POLICY, MEDIA, POLICY, error_page, render
from skillyard.serve.web.search_page import LIMIT, Question, SearchOffer, home_page, results_page
from skillyard.serve.web.skill_page import SkillView, skill_page

_HEADERS = {"Content-Security-Policy": POLICY}


async def home(context: AppContext, request: RouteRequest) -> Reply:
    """Return the search page to browsers, and names and links to programs.

    Raises Refused (502) when every queried source failed.
    """
    question = _question(context, request)
    if not prefers_html(request.accept):
        return (await operations.root(context, request)).with_headers(Vary="Accept")
    async with context.guard.slot():  # programs get `root` without a slot
        body = await _search(context, question)
    return _page(body).with_headers(Vary="Accept")


def _question(context: AppContext, request: RouteRequest) -> Question:
    values = request.values
    searches = context.searches
    sources = tuple(name for name in values["source"] if name)
    searches.check_names(sources)
    scorer = values["scorer"]
    defaults = {_scorer_without_choice(context, sources or searches.default_names)}
    if scorer is not None and "+" in scorer:  # of the form for the catalog alone
        defaults.add(context.scorer)
    return Question(
        _form_text(values["q"] or ""),
        sources,
        "" if scorer in defaults else context.scorer_of(values["scorer"]) or "",
        0 if values["limit"] == LIMIT else values["limit"],
        values["live"],
    )


def _scorer_without_choice(context: AppContext, names: Sequence[str]) -> str:
    """Return what ranks these sources: the catalog alone is ranked as by ``/rank``."""
    return context.scorer if {*names} == {LOCAL} else context.searches.scorer_for(None, names)


def _form_text(text: str) -> str:
    """Return text as it was typed: forms send each line end as two characters."""
    return text.replace("\r\n", "\n").strip()


async def _search(context: AppContext, question: Question) -> bytes:
    snapshot = await context.snapshot()
    searches = context.searches
    names = question.sources or searches.default_names
    # Remotes are only queried for a submitted request, not while a person types.
    question = question._replace(live=question.live and any(name != LOCAL for name in names))
    here = {*names} == {LOCAL}
    caller = context.options.caller
    default = _scorer_without_choice(context, (LOCAL,) if question.live else names)
    scorers = tuple(sorted({*scorer_names(), default}))
    offer = SearchOffer(searches.default_names, scorers, default)
    if not question.text:
        return await context.in_thread(_home, offer, snapshot, question)
    if here and not snapshot.whole.counts.skills:
        return await context.in_thread(_home, offer, snapshot, question)
    if question.live or here:
        return await context.in_thread(_local_results, offer, snapshot, question, caller)
    selected = None
    scorer = question.scorer or default
    if LOCAL in names:
        _, selected = await context.in_thread(_select, snapshot, question.text, scorer, caller)
    return await searches.search(
        snapshot,
        names,
        scorer,
        lambda result: results_page(offer, question, result, selected),
        question.text,
        question.number,
    )


def _home(offer: SearchOffer, snapshot: Snapshot, question: Question) -> bytes:
    whole = snapshot.whole
    broken = sum(each.severity == "error" for each in whole.diagnostics)
    return home_page(offer, question, whole.counts, snapshot.by_name, broken)


def _local_results(
    offer: SearchOffer, snapshot: Snapshot, question: Question, caller: str
) -> bytes:
    """Return the page for the catalog alone, with the ranking of ``/rank``."""
    scorer = question.scorer or offer.scorer
    limit = question.number
    matches, selected = _select(snapshot, question.text, scorer, caller, limit)
    skills = tuple(
        FoundSkill(match.skill, hit_of(snapshot, match.skill), (LOCAL,), match) for match in matches
    )
    status = SourceStatus(LOCAL, "ok", len(skills))
    chosen, floor = selected.selection, selected.min_score
    result = SearchResult(question.text, skills, (status,), chosen.scorer, chosen.considered, floor)
    return results_page(offer, question, result, selected)


def _select(
    snapshot: Snapshot, text: str, scorer: str, caller: str, limit: int = 0
) -> tuple[list[Match], SelectResult]:
    def work(ranking: Ranking) -> tuple[list[Match], SelectResult]:
        catalog, scorer = ranking.catalog, ranking.scorer
        matches = rank(catalog, text, scorer=scorer, limit=limit) if limit else []
        selected = select_skills(catalog, Query(text), scorer=scorer, caller=caller)
        return matches, selected._replace(note=ranking.note)

    return snapshot.answer(scorer, work)


async def skill(context: AppContext, request: RouteRequest) -> Reply:
    """Return the page of one skill. Raises Refused: 404, 409, 422, 502, 503."""
    values = request.values
    scorer = None if values["scorer"] == context.scorer else context.scorer_of(values["scorer"])
    snapshot = await context.snapshot()
    found_skill = await skill_by_source(
        context, snapshot, values["source"], values["id"], references=True
    )
    view = SkillView(
        found_skill, query=_form_text(values["q"]), scorer=scorer or "", file=values["file"]
    )
    if values["source"] != LOCAL:
        return _page(await context.in_slow_thread(skill_page, view))
    return _page(await context.in_slow_thread(_local_page, snapshot, view, context.scorer))


def _local_page(snapshot: Snapshot, view: SkillView, scorer: str) -> bytes:
    resources: tuple[Resource, ...] = ()
    try:
        resources = list_resources(view.found_skill.skill)
    except SkillError:
        pass  # a single document has no folder
    view = view._replace(resources=resources)
    if not view.query:
        return skill_page(view)
    name, query = view.found_skill.skill.id, Query(view.query)

    def work(ranking: Ranking) -> WhyResult:
        why = why_skill(ranking.catalog, name, query, scorer=ranking.scorer)
        return why._replace(note=ranking.note)

    try:
        why = snapshot.answer(view.scorer or scorer, work)
    except SkillyardError as error:
        raise refusal_of(error) from None
    return skill_page(view._replace(why=why))


async def docs(context: AppContext, request: RouteRequest) -> Reply:
    """Return the API documentation as a page."""
    if "docs" not in context.fixed_bodies:
        described = operations.description(context)
        context.fixed_bodies["docs"] = await context.in_thread(
            partial(render, "docs.html", described=described)
        )
    return _page(context.fixed_bodies["docs"])


def refusal_reply(
    refused: Refused, accept: str, *, page: bool = False, bare: bool = False
) -> Reply:
    """Return a refusal as HTML to browsers, else as the documented JSON.

    ``page`` is set for routes that return pages, ``bare`` when the client may not load the style
    sheet.
    """
    headers = {**refused.headers, "Vary": "Accept"}
    if not prefers_html(accept, at_least=page):
        return json_reply(refused.to_dict(), refused.status)._replace(headers=headers)
    if refused.code == BUILDING:  # the page goes on by itself
        headers["Refresh"] = headers["Retry-After"]
    body = error_page(refused.status, refused.to_dict(), bare=bare)
    policy = {"Content-Security-Policy": BARE_POLICY} if bare else _HEADERS
    return Reply(body, MEDIA, refused.status, headers={**headers, **policy})


def _page(body: bytes) -> Reply:
    return Reply(body, MEDIA, headers=_HEADERS, tagged=True)
