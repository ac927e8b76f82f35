"""Limits really count down, per host and per account, and windows end."""

from __future__ import annotations

from skillyard_testkit import FakeServers, RateLimit
from tests.tables import for_each
from tests.testkit.client import Got, ask


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def repository(up: FakeServers, *, authorization: str = "", if_none_match: str = "") -> Got:
    url = f"{up.github_api}/repos/demo/skills"
    return ask(url, authorization=authorization, if_none_match=if_none_match)


def left(got: Got) -> int:
    return int(got.headers["x-ratelimit-remaining"])


@for_each("status", [403, 429])
def test_github_refuses_when_the_budget_is_used_up(status: int) -> None:
    clock = Clock()
    with FakeServers(clock=clock) as up:
        up.add_repository("demo/skills", {"a.md": "a"})
        up.switches.rate_limits["github_api"] = RateLimit(
            anonymous=3, window_s=3_600, status=status
        )
        assert [left(repository(up)) for _ in range(3)] == [2, 1, 0]
        clock.now += 60
        limited = repository(up)
        assert limited.status == status
        assert limited.json["message"].startswith("API rate limit exceeded")
        assert {name: value for name, value in limited.headers.items() if "ratelimit" in name} == {
            "x-ratelimit-limit": "3", "x-ratelimit-remaining": "0", "x-ratelimit-used": "3",
            "x-ratelimit-reset": "1003600", "x-ratelimit-resource": "core",
        }  # fmt: skip
        clock.now += 3_540
        assert left(repository(up)) == 2


def test_an_authorised_304_costs_nothing_and_an_anonymous_one_does(up: FakeServers) -> None:
    up.add_repository("demo/skills", {"a.md": "a"})
    up.switches.rate_limits["github_api"] = RateLimit(anonymous=2, authorised=1)
    token = f"Bearer {up.switches.github_token}"
    first = repository(up, authorization=token)
    tag = first.headers["etag"]
    assert left(first) == 0
    for _ in range(3):
        again = repository(up, authorization=token, if_none_match=tag)
        assert (again.status, left(again)) == (304, 0)
    assert repository(up, authorization=token).status == 403
    codes = [repository(up, if_none_match=tag).status for _ in range(3)]
    assert codes == [304, 304, 403]
