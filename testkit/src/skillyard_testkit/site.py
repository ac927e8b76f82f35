"""What the servers of the stand-in have in common: shapes of errors, accounts and limits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus

from skillyard.standin.answers import Answer, Asked, text_answer
from skillyard.standin.budgets import Budget, Standing
from skillyard.standin.switches import Switches

__all__ = ["Site", "phrase"]


def phrase(status: int) -> str:
    """Return the standard words for a status, or its digits."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return str(status)


class Site:
    """One server's content. Subclasses say what it answers and how its errors look."""

    name = "other"

    def __init__(self, switches: Callable[[], Switches]) -> None:
        """``switches`` is asked anew for every request, so that a test may replace them whole."""
        self._switches = switches
        self.clock: Callable[[], float] = time.time
        """Seconds since 1970."""
        self.base = ""
        """The URL of the server, once it runs."""

    @property
    def switches(self) -> Switches:
        """The switches as they stand now."""
        return self._switches()

    def answer(self, asked: Asked) -> Answer:
        """Return what an honest server answers to GET. This one takes anything."""
        return text_answer("ok\n")

    def error(self, asked: Asked, status: int, message: str = "") -> Answer:
        """Return an error in the shape of this server."""
        return text_answer(f"{message or phrase(status)}\n", status)

    def account(self, asked: Asked) -> str:
        """Return whose budget a request counts against; empty for anonymous ones."""
        return ""

    def budget(self, asked: Asked) -> Budget | None:
        """Return the budget that a request counts against, where there is one."""
        return self.switches.budgets.get(self.name)

    def refused(self, asked: Asked, status: int, wait_s: int) -> Answer:
        """Return what exceeding the budget answers; a standing adds its headers to it."""
        return self.error(asked, status).with_headers(retry_after=str(wait_s))

    def secondary(self, asked: Asked, status: int, retry_after: int | None) -> Answer:
        """Return what too much at once answers."""
        answer = self.error(asked, status)
        return answer.with_headers(retry_after=str(retry_after)) if retry_after else answer

    def labels(self, standing: Standing) -> dict[str, str]:
        """Return the headers that tell a client where it stands; most servers tell nothing."""
        return {}

    def metered(self, asked: Asked, answer: Answer, *, kept: bool) -> Answer:
        """Charge a request and return its answer with the labels, or the refusal.

        An authorised 304 costs nothing. ``kept`` answers, the faults, are charged but not refused.
        """
        budget = self.budget(asked)
        if budget is None:
            return answer
        account = self.account(asked)
        cost = 0 if answer.status == 304 and account else 1
        standing = budget.charge(account, cost, self.clock())
        if standing is None:
            return answer
        if not standing.allowed and not kept:
            answer = self.refused(asked, budget.status, standing.wait_s)
        return replace(answer, headers={**self.labels(standing), **answer.headers})
