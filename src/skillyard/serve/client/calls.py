"""The methods of the clients: one function for each route of the service.

They become the methods of :class:`~skillyard.serve.client.Client` and
:class:`~skillyard.serve.client.AsyncClient`. Each may raise, beside the errors that it names,
ServiceUnavailable (unreachable or overloaded), ServiceRefused (token, address or size),
BadAnswer (not the response of a skillyard service), ServiceFailed (an error in the service), and
InvalidInput with the ``field`` of the rejected argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from skillyard.base.arguments import text_items
from skillyard.base.errors import InvalidInput
from skillyard.base.operation import Operation
from skillyard.base.shapes.feedback import FeedbackReceipt
from skillyard.base.shapes.rankings import Ranked
from skillyard.base.shapes.reasons import Why
from skillyard.base.shapes.recommendations import Evaluated
from skillyard.base.shapes.selections import Selected
from skillyard.base.shapes.service import Health
from skillyard.base.shapes.skills import SearchDocument, SkillDocument
from skillyard.engine.operations.skill_explanation import WHY
from skillyard.engine.ranking.query import Query
from skillyard.engine.selection import SelectionPolicy, policy_with
from skillyard.hosts.operations.recommendations import EVALUATE
from skillyard.hosts.operations.skill_feedback import FEEDBACK
from skillyard.hosts.operations.skill_selection import RANK, SELECT
from skillyard.serve.client.call import Call, json_call, path_of
from skillyard.serve.requests import SEARCH

T = TypeVar("T")


def search(query: str, *, sources: Iterable[str] = (), **more: Any) -> Call[SearchDocument]:
    """Search the service's catalog and the remote sources; best first, with contents.

    ``query`` has 1 to 200 characters. ``sources`` names the sources to search (``local`` is the
    service's catalog); by default those of the service's settings. ``more`` are the other fields of
    :class:`~skillyard.serve.requests.SearchRequest`: ``limit`` is 1 to 50, ``scorer`` None the
    service's default, and ``cards`` a token budget for the texts: a skill that does not fit has
    ``omitted`` set. The result names each failed source; raises SourcesFailed when every source
    failed.
    """
    values = _values(SEARCH, {"query": _text("query", query)}, more)
    names = text_items("sources", sources)
    return json_call(SEARCH.route, SearchDocument, {**values, "sources": names})


def skill(
    name: str, *, include_raw: bool = False, include_references: bool = False
) -> Call[SkillDocument]:
    """Return one skill by its exact name, id or slug, or by owner/repo/id.

    The service searches its catalog first, then the remote sources. Raises SkillNotFound with
    similar names, AmbiguousName with the ids, SourcesFailed.
    """
    path = path_of("skill", _text("name", name))
    return _one_skill(path, name, include_raw, include_references)


def skill_from(
    source: str, id: str, *, include_raw: bool = False, include_references: bool = False
) -> Call[SkillDocument]:
    """Return one skill by its source (owner/repo, a domain, or ``local``) and its id there.

    Raises SkillNotFound, AmbiguousName, SourcesFailed.
    """
    path = path_of("skills", _text("source", source), _text("id", id))
    return _one_skill(path, f"{source}/{id}", include_raw, include_references)


def _one_skill(path: str, name: str, raw: bool, references: bool) -> Call[SkillDocument]:
    parameters = {"include_raw": raw, "include_references": references}
    return json_call(("GET", path), SkillDocument, parameters, subject=name)


def rank(
    text: str = "",
    files: Iterable[str] = (),
    recent_activity: Iterable[str] = (),
    include_tags: Iterable[str] = (),
    exclude_tags: Iterable[str] = (),
    include_references: bool = False,
    scorer: str | None = None,
    limit: int = 10,
    **more: Any,
) -> Call[Ranked]:
    """Rank all skills of the service's catalog for a query, without a floor.

    The arguments are those of :func:`skillyard.rank`, and ``more`` the other fields of
    :class:`~skillyard.hosts.operations.skill_selection.RankRequest`: ``explain`` adds the
    explanation tree of each score, ``diagnostics`` the problems found while loading. ``limit`` is 1
    to 50, and ``scorer`` None the service's default. Text of more than about 10,000 characters does
    not fit into the URL: use :func:`select`.
    """
    query = Query(text, files, recent_activity, include_tags, exclude_tags, include_references)
    values = _values(RANK, {**_query_values(query), "scorer": scorer, "limit": limit}, more)
    values["text"] = values.pop("query")  # as the argument is called
    return json_call(RANK.route, Ranked, values)


def select(
    query: str | Query,
    policy: SelectionPolicy | None = None,
    scorer: str | None = None,
    *,
    min_score: float | None = None,
    top_k: int | None = None,
    **more: Any,
) -> Call[Selected]:
    """Select skills of the service's catalog for a query, or abstain.

    Takes the policy and bounds of :func:`skillyard.select`, and in ``more`` the other fields of
    :class:`~skillyard.hosts.operations.skill_selection.SelectRequest`; the policy's tags are sent
    with the query's. ``scorer`` None is the service's default. Raises InvalidInput when both query
    and policy name tags to include: a request has one such list.
    """
    request, policy = _query(query), policy_with(policy, min_score, top_k)
    if request.include_tags and policy.include_tags:
        raise InvalidInput(
            "include_tags: name them in the query or in the policy, not in both",
            field="include_tags",
        )
    values = {
        **_query_values(request),
        "include_tags": request.include_tags or policy.include_tags,
        "exclude_tags": (*request.exclude_tags, *policy.exclude_tags),
        "scorer": scorer,
        "top_k": policy.top_k,
        "min_score": policy.min_score,
        "wrong_cost": policy.wrong_cost,
        "fallback_tag": policy.fallback_tag,
    }
    return json_call(SELECT.route, Selected, _values(SELECT, values, more))


def evaluate(
    text: str | None = None,
    files: Iterable[str] = (),
    recent_activity: Iterable[str] = (),
    *,
    threshold: float = 0.3,
    limit: int = 10,
    show_details: bool = False,
) -> Call[Evaluated]:
    """Return the documented ``skill_evaluate`` over the service's catalog.

    Skills whose confidence reaches ``threshold`` (0 to 1) are recommended. Raises InvalidInput
    without text and files.
    """
    values = {"text": text, "files": files, "recent_activity": recent_activity}
    more = {"threshold": threshold, "limit": limit, "show_details": show_details}
    return json_call(EVALUATE.route, Evaluated, _values(EVALUATE, values, more))


def why(name: str, query: str | Query = "", *, scorer: str | None = None, **more: Any) -> Call[Why]:
    """Explain the score and the rank of one skill of the service's catalog.

    ``name`` is its exact name, id or slug; ``more`` are the other fields of
    :class:`~skillyard.engine.operations.skill_explanation.WhyRequest`: up to ``limit`` (0 to 50)
    skills ranked above it are compared, and ``explain`` adds their explanation trees. ``scorer``
    None is the service's default. Raises SkillNotFound, AmbiguousName.
    """
    values = {"name": _text("name", name), **_query_values(_query(query)), "scorer": scorer}
    return json_call(WHY.route, Why, _values(WHY, values, more), subject=name)


def feedback(name: str, request: str, *, right: bool, note: str = "") -> Call[FeedbackReceipt]:
    """Say that a skill was right or wrong for a request; similar requests are ranked accordingly.

    ``name`` is its exact name, id or slug, ``request`` has 1 to 2,000 characters and ``note`` up to
    500. A judgement on the same skill and request replaces the earlier one. Raises SkillNotFound,
    AmbiguousName, and ServiceRefused (403) unless the service was started with ``--feedback``.
    """
    values = {"name": _text("name", name), "request": request, "right": right, "note": note or None}
    return json_call(FEEDBACK.route, FeedbackReceipt, _values(FEEDBACK, values, {}), subject=name)


def health() -> Call[Health]:
    """Return the state of the service, also when it cannot serve requests (see ``able``)."""
    return json_call(("GET", "/health"), Health, statuses=frozenset({200, 503}))


def openapi() -> Call[dict[str, Any]]:
    """Return the service's OpenAPI document as plain JSON."""
    return json_call(("GET", "/openapi.json"), dict[str, Any])


def _text(field: str, value: str) -> str:
    if not isinstance(value, str):
        what = type(value).__name__
        raise InvalidInput(f"{field} must be a string, not {what}", field=field)
    return value


def _query(query: str | Query) -> Query:
    return query if isinstance(query, Query) else Query(_text("query", query))


def _query_values(query: Query) -> dict[str, Any]:
    values = asdict(query.document())
    return {"query": values.pop("text"), **values}


def _values(
    operation: Operation, values: Mapping[str, Any], more: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what is sent. Raises InvalidInput for a field that the operation does not have."""
    kinds = {field.name: field.kind for field in operation.fields("http")}
    for name in more:
        if name not in kinds:
            known = ", ".join(kinds)
            raise InvalidInput(f"no argument {name!r}; {operation.name} takes: {known}", field=name)
    return {
        name: text_items(name, value) if kinds[name] == "texts" else value
        for name, value in {**values, **more}.items()
    }
