"""Hostile networks against the command line, as a person runs it: settings, environment, exit code.

One bad server costs its own results, is named, learns no token, and writes nothing.
"""

from __future__ import annotations

import pytest

from skillyard.base.invisible import find_hidden
from skillyard_testkit import Response, faults
from skillyard_testkit.messages import json_response
from tests.hostile.network import EVERY, World, skill
from tests.hostile.network_cases import ANSWERS, CONTENTS, SEARCHES
from tests.install.sources.clients import Dialled, count_dialling
from tests.install.sources.test_addresses import bracketed

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> Dialled:
    return count_dialling(monkeypatch)


def assert_printable(text: str) -> None:
    assert find_hidden(text.replace("\n", " ")) is None


def test_without_hostility_all_sources_are_there(here: World) -> None:
    done = here.run("search", "pdf forms")
    assert (done.code, done.err) == (0, "")
    assert all(name in done.out for name in EVERY)
    assert "no content" not in done.out
    here.check_tokens()
    assert here.run("search", "pdf forms", "--json").ids == EVERY


# --- addresses ---

ADDRESSES = ["10.0.0.1", "169.254.169.254", "::1", "fe80::1%eth0", "64:ff9b::a9fe:a9fe"]
"""Some of the 43 of ``tests/install/sources/test_addresses.py``, which are refused in one place."""


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_on_the_command_line_is_refused_by_name(
    here: World, dialled: Dialled, address: str
) -> None:
    before = here.files()
    for into in ((), ("--into", str(here.into))):
        done = here.run("add", f"https://{bracketed(address)}#pdf", *into)
        assert (done.code, done.out) == (2 if "%" in address else 4, "")
        assert address in done.err
    assert dialled == []
    assert here.files() == before


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_index_that_names_such_an_address_is_refused_by_name(
    here: World, dialled: Dialled, address: str
) -> None:
    url = f"http://{bracketed(address)}:8080/SKILL.md"
    here.up.add_well_known("pdf-evil", {"SKILL.md": skill("pdf-evil")}, fields={"url": url})
    before = here.files()
    done = here.run("add", "pdf-evil", "--into", str(here.into))
    assert (done.code, done.out) == (4, "")
    assert address in done.err
    assert 8080 not in {where[1] for where in dialled}
    assert here.files() == before


# --- 12 answers ---

SOME = ("slow", "a gzip bomb", "a redirect to another host")
EVERYWHERE = [
    *(("skills.sh", answer) for answer in ANSWERS),
    *((place, answer) for place in SEARCHES if place != "skills.sh" for answer in SOME),
]


@pytest.mark.parametrize(("place", "answer"), EVERYWHERE)
def test_a_hostile_answer_to_a_search_costs_one_source(
    here: World, dialled: Dialled, place: str, answer: str
) -> None:
    where, hostile = SEARCHES[place], ANSWERS[answer]
    hostile.make(here.up, where)
    before = here.files()
    done = here.run("search", "pdf forms")
    assert done.code == 0
    assert {name for name in EVERY if name in done.out} == EVERY - {where.lost}
    (said,) = done.err.splitlines()
    assert said.startswith(f"skillyard: {where.source}:")
    assert_printable(done.out + done.err)
    shape = here.run("search", "pdf forms", "--json")
    failed = shape.source(where.source)
    assert failed["state"] == "failed"
    assert failed["code"] in hostile.codes
    assert {one["state"] for one in shape.json["sources"]} == {"ok", "failed"}
    assert shape.json["partial"] is True
    assert here.files() == before
    assert {where[0] for where in dialled} == {"127.0.0.1"}
    assert not any("stolen" in request.path for request in here.up.requests)
    here.check_tokens()


@pytest.mark.parametrize("answer", SOME)
@pytest.mark.parametrize("place", CONTENTS)
def test_a_hostile_answer_for_a_skill_costs_its_content_alone(
    here: World, place: str, answer: str
) -> None:
    where, hostile = CONTENTS[place], ANSWERS[answer]
    hostile.make(here.up, where)
    before = here.files()
    done = here.run("search", "pdf forms", "--json")
    assert (done.code, done.ids) == (0, set(EVERY))
    for one in done.json["skills"]:
        assert (one["content"] is None) == (one["id"] == where.lost), one["id"]
        assert (one["fetch_error"] is not None) == (one["id"] == where.lost)
    shown = here.run("search", "pdf forms")
    codes = hostile.codes | ({"refused"} if where.source == "well-known" else set())  # by digest
    assert any(f"no content: {code}]" in shown.out for code in codes)
    added = here.run("add", where.lost, "--into", str(here.into))
    assert added.code in (2, 4)
    assert added.err
    assert here.files() == before
    assert not any("stolen" in request.path for request in here.up.requests)
    here.check_tokens()


@pytest.mark.parametrize("what", ["*index.json", "*/pdf-site/SKILL.md"])
def test_what_is_not_what_the_index_promises_is_not_taken(here: World, what: str) -> None:
    here.up.faults.add("well_known", what, faults.wrong_digest(), times=None)
    before = here.files()
    done = here.run("search", "pdf forms", "--json")
    (site,) = [one for one in done.json["skills"] if one["id"] == "pdf-site"]
    assert (site["content"], "its digest differs" in site["fetch_error"]) == (None, True)
    added = here.run("add", "pdf-site", "--into", str(here.into))
    assert (added.code, "its digest differs" in added.err) == (4, True)
    assert here.files() == before


def test_numbers_that_are_none_are_read_and_never_written(here: World) -> None:
    """Python reads and writes NaN; JSON has none."""
    here.up.list_skill("market/skills", "pdf-nan", installs=float("nan"))
    here.up.list_skill("market/skills", "pdf-inf", installs=float("inf"))
    done = here.run("search", "pdf forms", "--json", "--explain")
    assert done.code == 0
    assert done.ids >= EVERY | {"pdf-nan", "pdf-inf"}
    assert {type(one["install_count"]) for one in done.json["skills"]} == {int}


def test_what_a_server_says_never_reaches_the_terminal_raw(here: World) -> None:
    loud = "pdf \x1b]0;owned\x07\x1b[2J\u202e\u200b\x9b31m\r"
    item = {"source": f"far/{loud}", "skillId": f"pdf-{loud}", "name": loud, "description": loud}
    other = {"source": "far/skills", "skillId": "pdf-\ud800", "name": "\udfff"}
    answer = json_response({"skills": [item, other, {**item, "name": "x" * 100_000}]})
    here.up.faults.add("skills_sh", "/api/*search*", faults.respond_with(answer), times=None)
    page = Response(200, b"<\x1b]0;x\x07>", {"content-type": "text/html\x1b"})
    here.up.faults.add("well_known", "*index.json", faults.respond_with(page), times=None)
    done = here.run("search", "pdf forms")
    assert done.code == 0
    assert_printable(done.out + done.err)
    assert len(done.out) < 10_000
    shape = here.run("search", "pdf forms", "--json")
    assert shape.out.isascii()
    assert shape.ids >= EVERY - {"pdf-market", "pdf-site"}


# --- tokens and processes ---


@pytest.mark.parametrize("server", ["skills_sh", "github_api", "github_raw", "well_known"])
def test_no_redirect_carries_a_token_to_another_host(here: World, server: str) -> None:
    """Each host of the settings may be asked, but never with what is another's."""
    up = here.up
    for target in (up.other, up.skills_sh, up.github_api, up.github_raw, up.well_known):
        if target != up.url(server):
            up.faults.add(server, "*", faults.redirect(f"{target}/stolen?token=yours", 307))
    here.run("search", "pdf forms")
    here.run("add", "pdf-ours", "--into", str(here.into))
    led = [request for request in up.requests if "stolen" in request.path]
    for request in led:
        assert "authorization" not in {name.lower() for name in request.headers}, request.server
    assert led  # hosts of the settings are followed to, so this could fail
