"""Every fault of upstreams that spec/skyll.md §3.3 lists, through ``skillyard search --json``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from skillyard.install.sources.transport import MAX_REQUESTS, Transport
from skillyard_testkit import RateLimit, Response, faults
from tests.hostile.network import EVERY, Done, World, skill, world

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")

TREE = "/repos/acme/skills/git/trees/*"


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[World]:
    with world(tmp_path, monkeypatch, capsys) as made:
        yield made


def searched(here: World, *more: str) -> Done:
    """Return the answer of one search, which is there whatever a fault costs."""
    done = here.run("search", "pdf forms", "--json", *more)
    assert (done.code, done.err) == (0, "")
    here.check_tokens()
    return done


def found(done: Done, skill_id: str) -> dict[str, Any]:
    (one,) = [one for one in done.json["skills"] if one["id"] == skill_id]
    return dict(one)


def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a day go by for the client."""
    defaults = Transport.__init__.__kwdefaults__
    assert defaults is not None
    now = time.time() + 90_000
    monkeypatch.setitem(defaults, "clock", lambda: now)


# --- statuses and silence ---

STATUSES: Mapping[str, tuple[faults.Fault, str]] = {
    "301": (faults.redirect("http://localhost:9/x", 301), "refused"),
    "304": (faults.respond_with(Response(304)), "bad_answer"),
    "401": (faults.status(401), "denied"),
    "403": (faults.status(403), "denied"),
    "404": (faults.status(404), "not_found"),
    "409": (faults.status(409), "status"),
    "429": (faults.status(429, retry_after=9), "rate_limited"),
    "500": (faults.status(500), "status"),
    "HTML with 200": (faults.html(), "bad_answer"),
    "a hang": (faults.hang(), "timeout"),
}


@pytest.mark.parametrize("name", STATUSES)
def test_a_status_is_named_and_costs_one_source(here: World, name: str) -> None:
    fault, code = STATUSES[name]
    here.up.faults.add("github_api", TREE, fault, times=None)
    done = searched(here)
    assert done.ids == EVERY - {"pdf-ours"}
    failed = done.source("github")
    assert (failed["state"], failed["code"]) == ("failed", code)
    assert ("retry_after_s" in failed) == (name == "429")
    assert failed["message"]


def test_a_budget_that_runs_out_is_named_with_its_end(here: World) -> None:
    """Three calls are left for twelve repositories."""
    for number in range(12):
        name = f"o{number}/skills"
        here.up.add_repository(name, {f"skills/pdf-{number}/SKILL.md": skill(f"pdf-{number}")})
        here.up.list_skill(name, f"pdf-{number}", installs=number + 100)
    here.up.switches.downloads = False
    here.up.switches.rate_limits["github_api"] = RateLimit(authorised=3)
    done = searched(here, "--limit", "30")
    without = [one for one in done.json["skills"] if one["content"] is None]
    assert len(done.json["skills"]) == 12 + len(EVERY)
    assert without
    assert all("rate limit reached" in one["fetch_error"] for one in without)
    assert all("; wait " in one["fetch_error"] for one in without)
    assert here.up.count("github_api") <= 12 + 3


def test_no_more_than_a_roomful_waits_for_a_host_that_is_silent(here: World) -> None:
    """Else seventy skills of one host would take three deadlines, and a person's patience.

    Some of a second roomful may be asked, where the host was heard half a deadline before.
    """
    for number in range(70):
        here.up.list_skill(f"o{number}/skills", f"pdf-{number}", installs=number)
    here.up.faults.add("skills_sh", "/api/download/*", faults.hang(), times=None)
    here.up.faults.add("github_api", "/repos/o*", faults.hang(), times=None)
    done = searched(here, "--limit", "50")
    assert done.json["count"] == 50
    assert here.up.count("skills_sh", "/api/download/") < 2 * MAX_REQUESTS
    assert here.up.count("github_api", "/repos/o") < 2 * MAX_REQUESTS


# --- trees ---


def test_a_tree_of_fifty_thousand_entries_is_searched(here: World) -> None:
    here.up.add_big_tree("acme/skills", 50_000)
    done = here.run("search", "skill-00042", "--json", "--limit", "3", "--source", "github")
    assert done.code == 0
    assert found(done, "skill-00042")["content"]


# --- documents ---

BOM = b"\xef\xbb\xbf"
DOCUMENTS: Mapping[str, tuple[bytes, Mapping[str, Any]]] = {
    "a number as version": (
        BOM + b"---\nname: pdf-ours\ndescription: PDF.\nversion: 1.10\n---\n\nBody.\n",
        {"version": "1.10", "content": "Body."},
    ),
    "invalid UTF-8": (b"---\nname: pdf-ours\ndescription: x\n---\n\nBody \xff\n",
                      {"content": "Body \ufffd"}),
    "a bomb of aliases": (
        b"---\nname: pdf-ours\na: &a [x, x]\nb: [*a, *a]\ndescription: d\n---\n\nBody.\n",
        {"content": "Body."},
    ),
}  # fmt: skip


# --- listings ---
