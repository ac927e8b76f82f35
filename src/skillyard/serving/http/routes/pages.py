"""The pages for people: ``/``, ``/docs``, ``/page/…``, what they load, and refusals as pages.

Where a bearer token is set, a browser cannot send it, and the pages answer 401 with a page that
says what to do: a reverse proxy that adds the header, or loopback without a token. The token is
never taken from an address or a cookie, for addresses are kept in histories and logs, and cookies
are sent along with the requests that other sites make.
"""

from __future__ import annotations

import os

from skillyard.catalog.snapshot import all_roots, parse_roots
from skillyard.errors import SkillError, SkillyardError, UnknownName
from skillyard.index.progress import Progress
from skillyard.ranking.match import rank
from skillyard.ranking.query import Query
from skillyard.ranking.registry import DEFAULT_SCORER, scorer_names
from skillyard.remote.search import FoundSkill, SearchResult, SearchService, SourceStatus
from skillyard.resources import Resource, list_resources
from skillyard.serving.http.routes import operations
from skillyard.serving.http.routes.search import scorer_of
from skillyard.serving.runtime.encoding import Reply, json_reply, prefers_html
from skillyard.serving.runtime.errors import BUILDING, Refused, failed, refusal_of
from skillyard.serving.runtime.fetching import found_by_source
from skillyard.serving.runtime.local import LOCAL, hit_of
from skillyard.serving.runtime.options import ServiceOptions, is_loopback
from skillyard.serving.runtime.service import Asked, Service
from skillyard.serving.runtime.shelf import shelf_of
from skillyard.serving.runtime.snapshot import Snapshot
from skillyard.serving.web.addresses import EVALUATE, HOME, evaluate_address, fits, search_address
from skillyard.serving.web.assets import asset
from skillyard.serving.web.browse_page import browse_page
from skillyard.serving.web.building import building_page
from skillyard.serving.web.docs_page import docs_page
from skillyard.serving.web.error_page import error_page
from skillyard.serving.web.evaluate_page import ANSWERS, Trial, evaluate_page
from skillyard.serving.web.layout import MEDIA, POLICY, bare_policy
from skillyard.serving.web.search_page import (
    RESULTS,
    Library,
    Offer,
    Question,
    found_page,
    home_page,
)
from skillyard.serving.web.skill_page import SkillView, skill_page
from skillyard.usecases import Selected, evaluate_skills, select_skills, why_skill

__all__ = ["browse", "docs", "evaluate", "evaluate_by_form", "home", "home_by_form",
           "refusal_reply", "skill", "static"]  # fmt: skip

LIMIT = 10
FOLDERS = 20
"""Folders that an empty library names."""
_HEADERS = {
    "Content-Security-Policy": POLICY,
    # Our own forms say that they are ours: under `no-referrer` a browser sends "Origin: null" with
    # them (Fetch, "append a request Origin header"). Other sites are told nothing all the same.
    "Referrer-Policy": "same-origin",
}
FOR_GOOD = "max-age=31536000, immutable"
FILES = 200


async def home(service: Service, asked: Asked) -> Reply:
    """Answer browsers with the search page, and programs with names and links.

    Raises Refused (502) when every source that was asked failed.
    """
    question = _question(service, asked)
    if not prefers_html(asked.accept):
        return (await operations.root(service, asked)).with_headers(Vary="Accept")
    async with service.places.one():  # the route itself is free, for programs that ask who we are
        body = await _search(service, question)
    return _page(body).with_headers(Vary="Accept")


async def home_by_form(service: Service, asked: Asked) -> Reply:
    """Answer what the form of the page sends: with the page's address where there is one.

    An address can be kept and handed on, and going back to it sends nothing again.
    """
    question = _question(service, asked)
    address = search_address(
        question.text,
        sources=question.sources,
        scorer=question.scorer,
        limit=question.limit or None,
    )
    if fits(address) and not question.live:
        return _see(f"{address}#{RESULTS}" if question.text else HOME)
    return _page(await _search(service, question))


def _question(service: Service, asked: Asked) -> Question:
    """Return what is asked. Raises UnknownName."""
    values = asked.values
    scorer = scorer_of(values)
    known = service.searching.known_names
    for name in values["source"]:
        if name and name not in known:
            raise UnknownName("source", name, known)
    return Question(
        _typed(values["q"] or ""),
        tuple(name for name in values["source"] if name),
        "" if scorer in (None, DEFAULT_SCORER) else str(scorer),
        0 if values["limit"] == LIMIT else values["limit"],
        values["live"],
    )


def _typed(text: str) -> str:
    """Return text as it was typed: forms send each line end as two characters."""
    return text.replace("\r\n", "\n").strip()


async def _search(service: Service, asked: Question) -> bytes:
    snapshot = await service.snapshot()
    offer = Offer(service.searching.default_names, scorer_names(), DEFAULT_SCORER, LIMIT)
    if not asked.text:
        return await service.in_thread(_home, service, offer, snapshot, asked)
    names = asked.sources or offer.sources
    # Remotes are asked when a person has said what they want, not with every letter on the way.
    asked = asked._replace(live=asked.live and any(name != LOCAL for name in names))
    here = set(names) == {LOCAL}
    if here and not snapshot.whole.counts.skills:
        return await service.in_thread(_home, service, offer, snapshot, asked)
    if asked.live or here:
        return await service.in_thread(_here, offer, snapshot, asked)
    sources = await service.in_thread(service.searching.watched, names, snapshot)
    selected = None
    if LOCAL in names:
        selected = await service.in_thread(_selected, snapshot, asked)

    async def run(searcher: SearchService) -> bytes:
        found = await searcher.search(asked.text, asked.limit or LIMIT)
        if found.failed:
            raise failed([status.to_dict() for status in found.sources])
        return found_page(offer, asked, found, selected)

    return await service.searching.run(run, sources, asked.scorer or DEFAULT_SCORER)


def _home(service: Service, offer: Offer, snapshot: Snapshot, asked: Question) -> bytes:
    counts = snapshot.whole.counts
    if counts.skills:
        return home_page(offer, asked, Library(counts, shelf_of(snapshot)))
    broken = sum(found.severity == "error" for found in snapshot.whole.diagnostics)
    return home_page(offer, asked, Library(counts, None, _looked(service.options), broken))


def _looked(options: ServiceOptions) -> tuple[str, ...]:
    """Return the folders that are served, to those alone who are on this machine anyway."""
    if options.store or options.token or options.allowed_hosts or not is_loopback(options.host):
        return ()
    paths, scopes = parse_roots(options.roots, options.scopes)
    roots = [os.path.abspath(root.path) for root in all_roots(paths, scopes)]
    return tuple(dict.fromkeys(roots))[:FOLDERS]


def _here(offer: Offer, snapshot: Snapshot, asked: Question) -> bytes:
    """Return the page of what the catalog alone answers: its ranking as ``/rank`` gives it."""
    scorer = asked.scorer or DEFAULT_SCORER
    limit = asked.limit or LIMIT
    matches = rank(snapshot.ranked_by(scorer), asked.text, scorer=scorer, limit=limit)
    selected = _selected(snapshot, asked)
    found = tuple(
        FoundSkill(match.skill, hit_of(snapshot, match.skill), (LOCAL,), match) for match in matches
    )
    status = SourceStatus(LOCAL, "ok", len(found))
    considered = selected.selection.considered
    result = SearchResult(asked.text, found, (status,), scorer, considered, selected.min_score)
    return found_page(offer, asked, result, selected)


def _selected(snapshot: Snapshot, asked: Question) -> Selected:
    scorer = asked.scorer or DEFAULT_SCORER
    return select_skills(snapshot.ranked_by(scorer), Query(asked.text), scorer=scorer)


async def browse(service: Service, asked: Asked) -> Reply:
    """Answer with one page of the list of all skills, or of those with one tag."""
    values = asked.values
    snapshot = await service.snapshot()

    def work() -> bytes:
        counts = snapshot.whole.counts
        return browse_page(shelf_of(snapshot), counts, values["tag"].strip(), values["page"])

    return _page(await service.in_thread(work))


async def skill(service: Service, asked: Asked) -> Reply:
    """Answer with the page of one skill. Raises Refused: 404, 409, 422, 502, 503."""
    values = asked.values
    scorer = scorer_of(values)
    snapshot = await service.snapshot()
    found = await found_by_source(
        service, snapshot, values["source"], values["id"], references=True, raw=True
    )
    view = SkillView(
        found,
        query=_typed(values["q"]),
        scorer="" if scorer in (None, DEFAULT_SCORER) else str(scorer),
        source=values["view"] == "source",
        file=values["file"],
    )
    if values["source"] != LOCAL:
        return _page(await service.aside(skill_page, view))
    return _page(await service.aside(_local_page, snapshot, view))


def _local_page(snapshot: Snapshot, view: SkillView) -> bytes:
    listed: tuple[Resource, ...] = ()
    try:
        listed = list_resources(view.found.skill)
    except SkillError:
        pass  # a single document has no folder
    view = view._replace(resources=listed)
    if not view.query:
        return skill_page(view)
    scorer = view.scorer or DEFAULT_SCORER
    try:
        catalog = snapshot.ranked_by(scorer)
        why = why_skill(catalog, view.found.skill.id, Query(view.query), scorer=scorer)
    except SkillyardError as error:
        raise refusal_of(error) from None
    return skill_page(view._replace(why=why))


async def evaluate(service: Service, asked: Asked) -> Reply:
    """Answer with the page on which a request is tried out."""
    trial = Trial(_typed(asked.values["text"] or ""), _typed(asked.values["files"]))
    files = [line.strip() for line in trial.files.splitlines() if line.strip()][:FILES]
    text = trial.text
    if not text and not files:
        return _page(await service.in_thread(evaluate_page, trial))
    snapshot = await service.snapshot()

    def work() -> bytes:
        evaluated = evaluate_skills(snapshot.ranked_by("confidence"), text, files)
        selected = select_skills(snapshot.ranked_by(DEFAULT_SCORER), Query(text, files))
        return evaluate_page(trial._replace(evaluated=evaluated, selected=selected))

    return _page(await service.in_thread(work))


async def evaluate_by_form(service: Service, asked: Asked) -> Reply:
    """Answer what the form of that page sends: with the page's address where there is one."""
    text, files = _typed(asked.values["text"] or ""), _typed(asked.values["files"])
    address = evaluate_address(text, files)
    if fits(address):
        return _see(f"{address}#{ANSWERS}" if text or files else EVALUATE)
    return await evaluate(service, asked)


async def docs(service: Service, asked: Asked) -> Reply:
    """Answer with the description of the service as a page."""
    if "docs" not in service.written:
        described = operations.description(service)
        service.written["docs"] = await service.in_thread(docs_page, described)
    return _page(service.written["docs"])


async def static(service: Service, asked: Asked) -> Reply:
    """Answer with a file that pages load; for good where it is asked for by its hash."""
    found = asset(asked.values["name"])
    if found is None:
        raise Refused(404, "no_file", "the pages load no file of this name", hint="see /")
    reply = Reply(found.body, found.media, tagged=True)
    if asked.values["v"] != found.version:
        return reply
    scope = "private" if service.options.token else "public"
    return reply.with_headers(Cache_Control=f"{scope}, {FOR_GOOD}")


def refusal_reply(
    refused: Refused, accept: str, *, page: bool = False, bare: bool = False
) -> Reply:
    """Return a refusal as the client reads it: a page to browsers, else the documented JSON.

    ``page`` where the route answers with pages anyway, ``bare`` where the client may not even load
    the style sheet.
    """
    headers = {**refused.headers, "Vary": "Accept"}
    if not prefers_html(accept, at_least=page):
        return json_reply(refused.to_dict(), refused.status)._replace(headers=headers)
    if refused.code == BUILDING:
        body = building_page(Progress(**refused.extra["progress"]))
    else:
        body = error_page(refused.status, refused.to_dict(), bare=bare)
    named = {"Content-Security-Policy": bare_policy()} if bare else _HEADERS
    return Reply(body, MEDIA, refused.status, headers={**headers, **named})


def _see(address: str) -> Reply:
    """Return the answer that leads a browser on to an address, which it asks for with GET."""
    return Reply(b"", "", 303, {"Location": address})


def _page(body: bytes) -> Reply:
    return Reply(body, MEDIA, headers=_HEADERS, tagged=True)
