"""The record of requests, the life of the context, and the sink that proves where tokens go."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from skillyard_testkit import FakeServers
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
