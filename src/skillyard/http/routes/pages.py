"""The pages for people: ``/``, ``/page/…``, the files that they load, and refusals as pages.

Where a bearer token is set, a browser cannot send it, and the pages answer 401 with a page that
says what to do: a reverse proxy that adds the header, or loopback without a token. The token is
never taken from an address or a cookie, for addresses are kept in histories and logs, and cookies
are sent along with the requests that other sites make.
"""

from __future__ import annotations

from skillyard.errors import SkillError, SkillyardError, UnknownName
from skillyard.hosting.errors import Refused, failed, refusal_of
from skillyard.hosting.fetching import found_by_source
from skillyard.hosting.local import LOCAL
from skillyard.hosting.service import Asked, Service
from skillyard.hosting.snapshot import Snapshot
from skillyard.http.encoding import Reply, json_reply, prefers_html
from skillyard.http.routes import operations
from skillyard.http.routes.search import scorer_of
from skillyard.node.library import EVERY
from skillyard.ranking.query import Query
from skillyard.ranking.registry import DEFAULT_SCORER, scorer_names
from skillyard.resources import Resource, list_resources
from skillyard.search import SearchService
from skillyard.service import Selected, evaluate_skills, select_skills, why_skill
from skillyard.skill import Origin
from skillyard.web.assets import asset
from skillyard.web.error_page import error_page
from skillyard.web.evaluate_page import Trial, evaluate_page
from skillyard.web.layout import MEDIA, POLICY, bare_policy
from skillyard.web.search_page import Offer, Question, found_page, home_page
from skillyard.web.skill_page import SkillView, skill_page

__all__ = ["evaluate", "home", "refusal_reply", "skill", "static"]

LIMIT = 10
FOR_GOOD = "max-age=31536000, immutable"
FILES = 200


async def home(service: Service, asked: Asked) -> Reply:
    """Answer browsers with the search page, and programs with names and links.

    Raises Refused (502) when every source that was asked failed.
    """
    values = asked.values
    scorer = scorer_of(values)
    known = service.searching.known_names
    for name in values["source"]:
        if name and name not in known:
            raise UnknownName("source", name, known)
    if not prefers_html(asked.accept):
        return (await operations.root(service, asked)).with_headers(Vary="Accept")
    question = Question(
        (values["q"] or "").strip(),
        tuple(name for name in values["source"] if name),
        "" if scorer in (None, DEFAULT_SCORER) else str(scorer),
        0 if values["limit"] == LIMIT else values["limit"],
        values["live"],
    )
    async with service.places.one():  # the route itself is free, for programs that ask who we are
        body = await _search(service, question)
    return _page(body).with_headers(Vary="Accept")


async def _search(service: Service, asked: Question) -> bytes:
    snapshot = await service.snapshot()
    offer = Offer(service.searching.default_names, scorer_names(), DEFAULT_SCORER, LIMIT)
    if not asked.text:
        return await service.in_thread(_home, offer, snapshot, asked)
    names = asked.sources or offer.sources
    # Remotes are asked when a person has said what they want, not with every letter on the way.
    asked = asked._replace(live=asked.live and any(name != LOCAL for name in names))
    sources = await service.in_thread(
        service.searching.watched, (LOCAL,) if asked.live else names, snapshot
    )
    selected = None
    if asked.live or LOCAL in names:
        selected = await service.in_thread(_selected, snapshot, asked.text)

    async def run(searcher: SearchService) -> bytes:
        found = await searcher.search(asked.text, asked.limit or LIMIT)
        if found.failed:
            raise failed([status.to_dict() for status in found.sources])
        return found_page(offer, asked, found, selected)

    return await service.searching.run(run, sources, asked.scorer or DEFAULT_SCORER)


def _home(offer: Offer, snapshot: Snapshot, asked: Question) -> bytes:
    whole = snapshot.whole
    if whole.on_demand and len(whole) > EVERY:
        return home_page(offer, (), asked, whole.counts)
    named = [
        skill
        for skill in whole.candidates
        if not skill.hidden and skill.origin != Origin.CONVENTION
    ]
    return home_page(offer, named, asked, whole.counts)


def _selected(snapshot: Snapshot, text: str) -> Selected:
    return select_skills(snapshot.ranked_by(DEFAULT_SCORER), Query(text))


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
        query=values["q"].strip(),
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
    trial = Trial(asked.values["text"], asked.values["files"])
    files = [line.strip() for line in trial.files.splitlines() if line.strip()][:FILES]
    text = trial.text.strip()
    if not text and not files:
        return _page(await service.in_thread(evaluate_page, trial))
    snapshot = await service.snapshot()

    def work() -> bytes:
        evaluated = evaluate_skills(snapshot.ranked_by("confidence"), text, files)
        selected = select_skills(snapshot.ranked_by(DEFAULT_SCORER), Query(text, files))
        return evaluate_page(trial._replace(evaluated=evaluated, selected=selected))

    return _page(await service.in_thread(work))


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
    body = error_page(refused.status, refused.to_dict(), bare=bare)
    policy = bare_policy() if bare else POLICY
    return Reply(
        body, MEDIA, refused.status, headers={**headers, "Content-Security-Policy": policy}
    )


def _page(body: bytes) -> Reply:
    return Reply(body, MEDIA, headers={"Content-Security-Policy": POLICY}, tagged=True)
