"""Hostile answers of a server (12), and where a search can meet them.

Addresses (43) stand in ``tests/install/sources/test_addresses.py``, archives in
``archive_cases.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from skillyard_testkit import FakeServers, Response, faults

__all__ = ["ANSWERS", "CONTENTS", "SEARCHES", "HostileAnswer", "Place"]

JSON = {"content-type": "application/json"}


class Place(NamedTuple):
    """A route of one server, and what a search loses with it."""

    source: str
    """The source as a search names it."""
    server: str
    pattern: str
    lost: str
    """The id of the one skill that comes by this route."""


SEARCHES: Mapping[str, Place] = {
    "skills.sh": Place("skills.sh", "skills_sh", "/api/*search*", "pdf-market"),
    "github": Place("github", "github_api", "/repos/acme/skills/git/trees/*", "pdf-ours"),
    "well-known": Place("well-known", "well_known", "*index.json", "pdf-site"),
}
CONTENTS: Mapping[str, Place] = {
    "a file of a repository": Place("github", "github_raw", "/acme/skills/*", "pdf-ours"),
    "a file of a site": Place("well-known", "well_known", "*/pdf-site/SKILL.md", "pdf-site"),
}

Make = Callable[[FakeServers, Place], None]


class HostileAnswer(NamedTuple):
    """One way to answer."""

    make: Make
    codes: frozenset[str]
    """What it may be called."""


def always(fault: faults.Fault) -> Make:
    return lambda up, place: up.faults.add(place.server, place.pattern, fault, times=None)


def _chain(up: FakeServers, place: Place) -> None:
    """Seven redirects, one more than are followed and one again, on the same host."""
    up.faults.add(place.server, place.pattern, faults.redirect("/hop/1"), times=None)
    for number in range(1, 7):
        next_one = faults.redirect(f"/hop/{number + 1}", 302)
        up.faults.add(place.server, f"/hop/{number}", next_one, times=None)


def _elsewhere(up: FakeServers, place: Place) -> None:
    """To a host that is none of the settings'."""
    port = int(up.other.rpartition(":")[2])
    target = f"http://localhost:{port}/stolen"  # another name is another origin
    up.faults.add(place.server, place.pattern, faults.redirect(target, 307), times=None)


def _answer(make: Make, *codes: str) -> HostileAnswer:
    return HostileAnswer(make, frozenset(codes))


ANSWERS: Mapping[str, HostileAnswer] = {
    "slow": _answer(always(faults.hang()), "timeout"),
    "endless": _answer(always(faults.endless()), "too_large"),
    "a gzip bomb": _answer(always(faults.gzip_bomb()), "too_large"),
    "longer than it is": _answer(always(faults.wrong_length(100)), "unreachable"),
    "a chain of redirects": _answer(_chain, "refused"),
    "a loop of redirects": _answer(always(faults.redirect("?again", 302)), "refused"),
    "a redirect to a private address": _answer(
        always(faults.redirect("http://169.254.169.254/latest/meta-data/", 302)), "refused"
    ),
    "a redirect to another host": _answer(_elsewhere, "refused"),
    "a page": _answer(always(faults.html()), "bad_answer"),
    "NaN": _answer(
        always(faults.respond_with(Response(200, b"NaN", JSON))),
        "bad_answer",
        "not_found",
    ),
    "no UTF-8": _answer(
        always(faults.respond_with(Response(200, b'{"skills": ["\xff\xfe"]}', JSON))),
        "bad_answer",
    ),
    "304 without a copy": _answer(always(faults.respond_with(Response(304))), "bad_answer"),
}
