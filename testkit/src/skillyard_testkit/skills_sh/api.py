"""skills.sh: the undocumented routes that its command line uses, and the door to ``/api/v1``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skillyard.standin import skills_sh_v1
from skillyard.standin.answers import Answer, Asked, json_answer, text_answer
from skillyard.standin.budgets import Budget, Standing
from skillyard.standin.listing import Listed, Listing
from skillyard.standin.site import Site, phrase
from skillyard.standin.switches import Switches

__all__ = ["SkillsSh"]

_SHORTEST_QUERY = 2
_LIMIT, _MOST = 10, 100


class SkillsSh(Site):
    """Answers as skills.sh does, from a listing that it is given."""

    name = "skills_sh"

    def __init__(self, switches: Callable[[], Switches], listing: Listing) -> None:
        super().__init__(switches)
        self._listing = listing

    def answer(self, asked: Asked) -> Answer:
        """Return the answer to GET."""
        match asked.parts:
            case ("api", "search"):
                return self._search(asked)
            case ("api", "download", owner, repository, slug):
                return self._download(asked, f"{owner}/{repository}/{slug}")
            case ("tele", "audit"):
                return self._audits(asked)
            case ("api", "v1", *rest):
                return self._v1(asked, rest)
        return self.error(asked, 404)

    def error(self, asked: Asked, status: int, message: str = "") -> Answer:
        """Return an error: with a code and a message in ``/api/v1``, shorter elsewhere."""
        if _documented(asked):
            return skills_sh_v1.error(status, message)
        if status == 403:
            return text_answer("Forbidden", 403)
        return json_answer({"error": message or phrase(status)}, status)

    def account(self, asked: Asked) -> str:
        """Return the token, when it is the one that is known; only ``/api/v1`` looks at it."""
        known = _documented(asked) and asked.token == self.switches.skills_sh_token
        return asked.token if known else ""

    def budget(self, asked: Asked) -> Budget | None:
        """Return the budget of ``/api/v1``, or that of all other routes."""
        return self.switches.budgets.get("skills_sh_v1" if _documented(asked) else "skills_sh")

    def labels(self, standing: Standing) -> dict[str, str]:
        """Return the three headers; unlike GitHub's, the reset counts seconds from now."""
        return {
            "x-ratelimit-limit": str(standing.limit),
            "x-ratelimit-remaining": str(standing.remaining),
            "x-ratelimit-reset": str(standing.wait_s),
        }

    def _v1(self, asked: Asked, rest: list[str]) -> Answer:
        if asked.headers.get("authorization") and not self.account(asked):
            return skills_sh_v1.error(401, "The token is not valid.", code="invalid_token")
        if not self.account(asked) and not self.switches.v1_open:
            return skills_sh_v1.error(401)
        return skills_sh_v1.answer(self._listing, self.base, rest, asked.query)

    def _search(self, asked: Asked) -> Answer:
        text = asked.query.get("q", "")
        if len(text.strip()) < _SHORTEST_QUERY:
            return self.error(asked, 400, "The query must have at least 2 characters")
        kind, found = self._listing.search(text, asked.query.get("owner", ""))
        found = found[: _limit(asked.query.get("limit", ""))]
        shape: dict[str, Any] = {
            "query": text,
            "searchType": kind,
            "skills": [self._item(one) for one in found],
            "count": len(found),
            "duration_ms": 1,
        }
        if self.switches.search_version is not None:
            shape["searchVersion"] = self.switches.search_version
        return json_answer(shape)

    def _item(self, one: Listed) -> dict[str, Any]:
        if self.switches.search_shape == "old":
            shape = {
                "id": one.slug,
                "name": one.name,
                "installs": one.installs,
                "topSource": one.source,
            }
        else:
            shape = {
                "id": one.id,
                "skillId": one.slug,
                "name": one.name,
                "installs": one.installs,
                "source": one.source,
            }
        return {**shape, **one.fields}

    def _download(self, asked: Asked, id: str) -> Answer:
        listed = self._listing.get(id)
        found = self._listing.snapshot(listed) if listed and self.switches.downloads else None
        if found is None:
            return self.error(asked, 404, "No snapshot of this skill")
        return json_answer({"files": found.files, "hash": found.hash})

    def _audits(self, asked: Asked) -> Answer:
        """Return ``{slug: {provider: {"risk", "alerts", "analyzedAt"}}}`` for those audited."""
        source, slugs = asked.query.get("source", ""), asked.query.get("skills", "")
        if not source or not slugs:
            return self.error(asked, 400, "Give source and skills")
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
        return json_answer(shape)


def _documented(asked: Asked) -> bool:
    return asked.parts[:2] == ("api", "v1")


def _limit(text: str) -> int:
    """Return how many results are wanted; what is no number is the usual ten."""
    return min(int(text), _MOST) if text.isdecimal() and len(text) < 10 and int(text) else _LIMIT
