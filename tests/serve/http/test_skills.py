"""One skill by name or source: the one that was meant, or an honest 404."""

from __future__ import annotations

from pathlib import Path

from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers, faults
from tests.serve.http.local_server import Running, running
from tests.serve.http.shapes import conforms
from tests.serve.http.test_search import fill
from tests.tables import for_each


def test_a_skill_of_the_catalog_is_found_by_name_and_id(served: Running) -> None:
    by_name = served.get("/skill/deploy")
    conforms(by_name.json(), "SkillDocument")
    assert (by_name.json()["name"], by_name.json()["content"]) == ("deploy", "Ship it.")
    held = served.context.follower.snapshot
    assert held is not None
    for path in (f"/skill/{held.whole.get('deploy').id}", "/skills/local/deploy"):
        assert served.get(path).json() == by_name.json()


def test_a_name_that_nobody_has_is_a_404_with_near_names_and_never_another_skill(
    served: Running,
) -> None:
    answer = served.get("/skill/pdf-table")
    assert answer.status_code == 404
    conforms(answer.json(), "Error")
    assert answer.json()["error"]["near"] == ["pdf-tables"]
    assert "pdf-tables" in answer.json()["error"]["hint"]


@for_each(
    ("path", "status"),
    [
        ("/skill/..%2f..%2fetc%2fpasswd", 404),
        ("/skill/%2e%2e/%2e%2e/%2e%2e/etc/passwd", 404),
        ("/skill/%00", 404),
        ("/skill/a/b", 404),
        ("/skills/..%2f../x", 422),
        ("/skills/local/..", 404),
        ("/skills/local/%2e%2e%2fdeploy", 422),
        ("/skills/a b/c/d", 422),
        ("/skills/acme/skills/%00", 422),
        ("/skills/", 404),
        ("/skills/local", 404),
        ("/.well-known/agent-skills/..%2f..%2fdeploy/SKILL.md", 404),
        ("/.well-known/agent-skills/%2e%2e/SKILL.md", 404),
    ],
)
def test_a_path_that_leads_elsewhere_leads_nowhere(served: Running, path: str, status: int) -> None:
    answer = served.client.build_request("GET", served.base + path)
    found = served.client.send(answer)
    assert found.status_code == status
    assert "root:" not in found.text


def test_a_remote_skill_comes_by_source_and_by_its_whole_name(
    tmp_path: Path, up: FakeServers, settings: Settings
) -> None:
    fill(up)
    with running(tmp_path / "skills", settings=settings) as server:
        for path in ("/skills/acme/skills/pdf", "/skill/acme/skills/pdf"):
            answer = server.get(f"{path}?include_references=true&include_raw=true")
            conforms(answer.json(), "SkillDocument")
            assert answer.json()["content"] == "Remote body."
            assert [r["path"] for r in answer.json()["references"]] == ["references/a.md"]
            tag = answer.headers["etag"]
            again = server.get(
                f"{path}?include_references=true&include_raw=true", headers={"If-None-Match": tag}
            )
            assert again.status_code == 304
        assert server.get("/skill/pdf").json()["source"] == "acme/skills"
        missing = server.get("/skills/acme/skills/nothing")
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "skill_not_found")
        unknown = server.get("/skill/something-else-entirely")
        assert unknown.status_code == 404


def test_a_skill_that_is_known_and_cannot_be_had_is_a_502_with_the_reason(
    tmp_path: Path, up: FakeServers, settings: Settings
) -> None:
    up.list_skill("acme/skills", "pdf", name="pdf", installs=500)
    for server in ("github_api", "github_raw"):
        up.faults.add(server, "*", faults.rate_limited(), times=None)
    up.faults.add("skills_sh", "/api/download/*", faults.status(500), times=None)
    with running(tmp_path / "skills", settings=settings) as served:
        answer = served.get("/skill/pdf")
        assert answer.status_code == 502
        conforms(answer.json(), "Error")
        codes = {found["code"] for found in answer.json()["error"]["sources"]}
        assert "rate_limited" in codes
