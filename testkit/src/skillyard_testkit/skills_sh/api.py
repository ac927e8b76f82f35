"""skills.sh: the undocumented routes of its command line, and the token check of ``/api/v1``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skillyard_testkit.messages import Request, Response, json_response, text_response
from skillyard_testkit.rate_limits import RateLimit, RateLimitState
from skillyard_testkit.site import Site, phrase
from skillyard_testkit.skills_sh import api_v1
from skillyard_testkit.skills_sh.listing import ListedSkill, Listing
from skillyard_testkit.switches import Switches

__all__ = ["SkillsSh"]

_SHORTEST_QUERY = 2
_LIMIT, _MAX_LIMIT = 10, 100


class SkillsSh(Site):
    """skills.sh, over the listing that it is given."""

    name = "skills_sh"

    def __init__(self, switches: Callable[[], Switches], listing: Listing) -> None:
        super().__init__(switches)
        self._listing = listing

    def respond(self, request: Request) -> Response:
        """Return the response to GET."""
        match request.parts:
            case ("api", "search"):
                return self._search(request)
            case ("api", "download", owner, repository, slug):
                return self._download(request, f"{owner}/{repository}/{slug}")
            case ("tele", "audit"):
                return self._audits(request)
            case ("api", "v1", *rest):
                return self._v1(request, rest)
        return self.error(request, 404)

    def error(self, request: Request, status: int, message: str = "") -> Response:
        """Return an error: with a code and a message in ``/api/v1``, shorter elsewhere."""
        if _documented(request):
            return api_v1.error(status, message)
        if status == 403:
            return text_response("Forbidden", 403)
        return json_response({"error": message or phrase(status)}, status)

    def account(self, request: Request) -> str:
        """Return the token when it is the valid one; only ``/api/v1`` has tokens."""
        is_known = _documented(request) and request.token == self.switches.skills_sh_token
        return request.token if is_known else ""

    def rate_limit(self, request: Request) -> RateLimit | None:
        """Return the rate limit of ``/api/v1``, or that of all other routes."""
        return self.switches.rate_limits.get(
            "skills_sh_v1" if _documented(request) else "skills_sh"
        )

    def rate_limit_headers(self, state: RateLimitState) -> dict[str, str]:
        """Return the three headers; unlike GitHub's, the reset counts seconds from now."""
        return {
            "x-ratelimit-limit": str(state.limit),
            "x-ratelimit-remaining": str(state.remaining),
            "x-ratelimit-reset": str(state.wait_s),
        }

    def _v1(self, request: Request, rest: list[str]) -> Response:
        if request.headers.get("authorization") and not self.account(request):
            return api_v1.error(401, "The token is not valid.", code="invalid_token")
        if not self.account(request) and not self.switches.v1_open:
            return api_v1.error(401)
        return api_v1.respond(self._listing, self.base, rest, request.query)

    def _search(self, request: Request) -> Response:
        text = request.query.get("q", "")
        if len(text.strip()) < _SHORTEST_QUERY:
            return self.error(request, 400, "The query must have at least 2 characters")
        kind, hits = self._listing.search(text, request.query.get("owner", ""))
        hits = hits[: _limit(request.query.get("limit", ""))]
        shape: dict[str, Any] = {
            "query": text,
            "searchType": kind,
            "skills": [self._item(skill) for skill in hits],
            "count": len(hits),
            "duration_ms": 1,
        }
        if self.switches.search_version is not None:
            shape["searchVersion"] = self.switches.search_version
        return json_response(shape)

    def _item(self, skill: ListedSkill) -> dict[str, Any]:
        if self.switches.search_shape == "old":
            shape = {
                "id": skill.slug,
                "name": skill.name,
                "installs": skill.installs,
                "topSource": skill.source,
            }
        else:
            shape = {
                "id": skill.id,
                "skillId": skill.slug,
                "name": skill.name,
                "installs": skill.installs,
                "source": skill.source,
            }
        return {**shape, **skill.fields}

    def _download(self, request: Request, id: str) -> Response:
        listed = self._listing.get(id)
        snapshot = self._listing.snapshot(listed) if listed and self.switches.downloads else None
        if snapshot is None:
            return self.error(request, 404, "No snapshot of this skill")
        return json_response({"files": snapshot.files, "hash": snapshot.hash})

    def _audits(self, request: Request) -> Response:
        """Return ``{slug: {provider: {"risk", "alerts", "analyzedAt"}}}`` for those audited."""
        source, slugs = request.query.get("source", ""), request.query.get("skills", "")
        if not source or not slugs:
            return self.error(request, 400, "Give source and skills")
        shape: dict[str, Any] = {}
        for slug in slugs.split(","):
            if audits := self._listing.audits(f"{source}/{slug}"):
                shape[slug] = {
                    audit["provider"]: {
                        "risk": audit["riskLevel"],
                        "alerts": int(audit["status"] != "pass"),
                        "analyzedAt": audit["auditedAt"],
                    }
                    for audit in audits
                }
        return json_response(shape)


def _documented(request: Request) -> bool:
    return request.parts[:2] == ("api", "v1")


def _limit(text: str) -> int:
    """Return the number of results to return: ten where the parameter is not a number."""
    return (
        min(int(text), _MAX_LIMIT) if text.isdecimal() and len(text) < 10 and int(text) else _LIMIT
    )
