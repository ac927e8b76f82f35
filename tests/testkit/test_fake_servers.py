"""The record of requests, the life of the context, and the sink that proves where tokens go."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from skillyard import InvalidInput
from skillyard_testkit import FakeServers, Request, Response, Switches, faults
from skillyard_testkit.site import Site
from tests.testkit.client import ask


def test_every_request_is_recorded_with_its_answer(up: FakeServers) -> None:
    ask(f"{up.skills_sh}/api/search?q=x", accept="application/json", x_odd="A b")
    ask(f"{up.github_raw}/a/b/HEAD/c%20d", method="HEAD")
    first, second = up.requests
    assert (first.server, first.method, first.path, first.status) == (
        "skills_sh", "GET", "/api/search?q=x", 400,
    )  # fmt: skip
    assert first.headers["accept"] == "application/json"
    assert first.headers["x-odd"] == "A b"
    assert (second.server, second.method, second.path, second.status) == (
        "github_raw", "HEAD", "/a/b/HEAD/c%20d", 404,
    )  # fmt: skip


def test_requests_are_counted_by_server_and_beginning(up: FakeServers) -> None:
    for path in ("/repos/a/b", "/repos/a/c", "/x"):
        ask(up.github_api + path)
    assert up.count("github_api") == 3
    assert up.count("github_api", "/repos/a/") == 2
    assert up.count("github_raw") == 0
    with pytest.raises(InvalidInput, match="skills_sh, github_api"):
        up.count("github")
    with pytest.raises(InvalidInput, match="skills_sh, github_api"):
        up.max_in_flight("github")


def test_no_request_of_many_threads_is_lost_or_counted_twice(up: FakeServers) -> None:
    up.add_repository("demo/skills", {"a.md": "a"})
    paths = [f"/demo/skills/HEAD/{'a' if number % 2 else 'b'}.md?{number}" for number in range(300)]
    with ThreadPoolExecutor(12) as pool:
        codes = list(pool.map(lambda path: ask(up.github_raw + path).status, paths))
    assert up.count("github_raw") == 300
    recorded = {request.path: request.status for request in up.requests}
    assert recorded == dict(zip(paths, codes, strict=True))


def test_how_many_were_in_flight_together_is_known(up: FakeServers) -> None:
    ask(f"{up.other}/x")
    ask(f"{up.other}/x")
    assert up.max_in_flight("other") == 1
    together = Barrier(4)

    def meet(site: Site, request: Request) -> Response:
        together.wait(20)
        return site.respond(request)

    up.faults.add("other", "/meet", meet, times=None)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: ask(f"{up.other}/meet"), range(4)))
    assert up.max_in_flight("other") == 4
    assert up.max_in_flight("github_api") == 0


def test_content_may_change_while_it_is_read(up: FakeServers) -> None:
    up.add_repository("demo/skills", {"a.md": "0"})
    up.switches.rate_limits.clear()

    def work(number: int) -> int:
        if number % 4:
            return ask(f"{up.github_api}/repos/demo/skills/git/trees/HEAD").status
        up.add_repository("demo/skills", {"a.md": str(number)})
        up.list_skill("demo/skills", f"skills-{number}")
        up.add_well_known(f"s{number}", {"SKILL.md": "#"})
        return 200

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(80))) == {200}
    listed = ask(f"{up.skills_sh}/api/search?q=skills&limit=99").json["skills"]
    assert {item["skillId"] for item in listed} == {f"skills-{n}" for n in range(0, 80, 4)}


def test_content_may_be_added_before_the_servers_run() -> None:
    up = FakeServers()
    up.add_repository("demo/skills", {"a.md": "a"})
    up.faults.add("github_raw", "*", faults.status(500))
    with pytest.raises(RuntimeError, match="do not run yet"):
        up.github_api  # noqa: B018 — reading it is what fails
    with up:
        assert ask(f"{up.github_raw}/demo/skills/HEAD/a.md").status == 500
        assert ask(f"{up.github_raw}/demo/skills/HEAD/a.md").body == b"a"


def test_the_record_outlives_the_servers_which_run_once() -> None:
    with FakeServers() as up:
        ask(up.other)
    assert up.count("other") == 1
    with pytest.raises(RuntimeError, match="create new"):
        up.__enter__()
    up.close()  # nothing is left to close


def test_switches_may_be_replaced_whole(up: FakeServers) -> None:
    up.list_skill("demo/skills", "react")
    up.switches = Switches(search_version="v3", search_shape="old")
    got = ask(f"{up.skills_sh}/api/search?q=react").json
    assert (got["searchVersion"], "skillId" in got["skills"][0]) == ("v3", False)
