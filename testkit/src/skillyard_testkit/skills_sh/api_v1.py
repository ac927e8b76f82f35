"""The documented routes of skills.sh, below ``/api/v1``, after the token check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillyard_testkit.messages import Response, json_response
from skillyard_testkit.site import phrase
from skillyard_testkit.skills_sh.listing import ListedSkill, Listing

__all__ = ["error", "respond"]

GENERATED_AT = "2026-01-01T00:00:00Z"
_CODES = {
    400: ("invalid_request", "The request has a parameter that is not valid."),
    401: ("authentication_required", "Send a bearer token in the Authorization header."),
    403: ("forbidden", "This token may not do that."),
    404: ("not_found", "Skill not found."),
    429: ("rate_limit_exceeded", "Too many requests. Wait as long as Retry-After says."),
    500: ("internal_error", "Something went wrong."),
    503: ("service_unavailable", "Temporarily unavailable. Try again later."),
}
_VIEWS = ("all-time", "trending", "hot")
_MAX_SEARCH, _MAX_PAGE = 200, 500
_DEFAULT = 50


class _BadParameter(Exception):
    """A parameter out of its range; the message names it."""


def error(status: int, message: str = "", *, code: str = "") -> Response:
    """Return ``{"error": code, "message": …}``, the shape of every error here."""
    usual_code, usual = _CODES.get(status, (f"error_{status}", phrase(status)))
    return json_response({"error": code or usual_code, "message": message or usual}, status)


def respond(listing: Listing, base: str, rest: list[str], query: Mapping[str, str]) -> Response:
    """Return the response of the route ``/api/v1/{rest}``. ``base`` is the site's own URL."""
    try:
        match rest:
            case ["skills"]:
                return _page(listing, base, query)
            case ["skills", "search"]:
                return _search(listing, base, query)
            case ["skills", "curated"]:
                return _curated(listing, base)
            case ["skills", "audit", *source, slug] if 1 <= len(source) <= 2:
                return _audit(listing, "/".join([*source, slug]))
            case ["skills", *source, slug] if 1 <= len(source) <= 2:
                return _detail(listing, "/".join([*source, slug]))
    except _BadParameter as bad:
        return error(400, str(bad))
    return error(404, "No such route.")


def _search(listing: Listing, base: str, query: Mapping[str, str]) -> Response:
    text = query.get("q", "")
    if len(text.strip()) < 2:
        raise _BadParameter("q must have at least 2 characters.")
    limit = _number(query, "limit", _DEFAULT, 1, _MAX_SEARCH)
    kind, hits = listing.search(text, query.get("owner", ""))
    items = [_item(skill, base) for skill in hits[:limit]]
    return json_response(
        {"data": items, "query": text, "searchType": kind, "count": len(items), "durationMs": 1}
    )


def _page(listing: Listing, base: str, query: Mapping[str, str]) -> Response:
    view = query.get("view", _VIEWS[0])
    if view not in _VIEWS:
        raise _BadParameter(f"view must be one of {', '.join(_VIEWS)}.")
    page = _number(query, "page", 0, 0, 1_000_000)
    size = _number(query, "per_page", _DEFAULT, 1, _MAX_PAGE)
    skills = listing.all() if view == "all-time" else listing.newest()
    start = page * size
    return json_response(
        {
            "data": [_item(skill, base) for skill in skills[start : start + size]],
            "pagination": {
                "page": page,
                "perPage": size,
                "total": len(skills),
                "hasMore": start + size < len(skills),
            },
        }
    )


def _curated(listing: Listing, base: str) -> Response:
    owners: dict[str, list[dict[str, Any]]] = {}
    for skill in listing.all():
        if skill.curated:
            owners.setdefault(skill.owner, []).append(_item(skill, base))
    return json_response(
        {
            "data": [{"owner": owner, "skills": skills} for owner, skills in owners.items()],
            "totalOwners": len(owners),
            "totalSkills": sum(map(len, owners.values())),
            "generatedAt": GENERATED_AT,
        }
    )


def _detail(listing: Listing, id: str) -> Response:
    skill = listing.get(id)
    if skill is None:
        return error(404)
    snapshot = listing.snapshot(skill)
    return json_response(
        {
            "id": skill.id,
            "source": skill.source,
            "slug": skill.slug,
            "installs": skill.installs,
            "hash": snapshot.hash if snapshot else None,
            "files": snapshot.files if snapshot else None,
        }
    )


def _audit(listing: Listing, id: str) -> Response:
    skill, audits = listing.get(id), listing.audits(id)
    if skill is None or not audits:
        return error(404, "No audit of this skill." if skill else "")
    return json_response(
        {"id": skill.id, "source": skill.source, "slug": skill.slug, "audits": list(audits)}
    )


def _item(skill: ListedSkill, base: str) -> dict[str, Any]:
    hosted = "/" in skill.source
    shape: dict[str, Any] = {
        "id": skill.id,
        "slug": skill.slug,
        "name": skill.name,
        "source": skill.source,
        "installs": skill.installs,
        "sourceType": "github" if hosted else "well-known",
        "installUrl": f"https://github.com/{skill.source}" if hosted else None,
        "url": f"{base}/{skill.id}",
    }
    if skill.duplicate:
        shape["isDuplicate"] = True
    return {**shape, **skill.fields}


def _number(query: Mapping[str, str], name: str, usual: int, low: int, high: int) -> int:
    text = query.get(name, "")
    if not text:
        return usual
    number = int(text) if text.isdecimal() and len(text) < 10 else -1
    if not low <= number <= high:
        raise _BadParameter(f"{name} must be a number from {low} to {high}.")
    return number
