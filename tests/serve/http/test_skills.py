"""One skill by name or source: the one that was meant, or an honest 404."""

from __future__ import annotations

from pathlib import Path

from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers, faults
from tests.parity.trees import write_tree
from tests.serve.http.local_server import LIBRARY, Running, running
from tests.serve.http.shapes import conforms
from tests.serve.http.test_search import fill
from tests.tables import for_each
from tests.worked_examples.making import document


def test_a_skill_of_the_catalog_is_found_by_name_and_id(served: Running) -> None:
    by_name = served.get("/skill/deploy")
    conforms(by_name.json(), "Skill")
    assert (by_name.json()["name"], by_name.json()["content"]) == ("deploy", "Ship it.")
    held = served.context.follower.snapshot
    assert held is not None
    for path in (f"/skill/{held.whole.get('deploy').id}", "/skills/local/deploy"):
        assert served.get(path).json() == by_name.json()


def test_a_skill_comes_with_the_rest_of_its_frontmatter(tmp_path: Path) -> None:
    extra = "tags: [pdf]\nlicense: MIT\nkeywords: [grid]\npriority: 7\n"
    extra += "triggers:\n  files: ['*.pdf']\n"
    write_tree(tmp_path, {"tagged/SKILL.md": document("tagged", "Extracts tables.", extra=extra)})
    with running(tmp_path) as server:
        found = server.get("/skill/tagged").json()
    conforms(found, "Skill")
    assert (found["tags"], found["license"], found["keywords"]) == (["pdf"], "MIT", ["grid"])
    assert found["priority"] == 7
    assert found["triggers"] == {"files": ["*.pdf"], "keywords": [], "phrases": []}


def test_raw_text_and_references_come_when_asked_for(served: Running) -> None:
    answer = served.get("/skill/pdf-tables?include_raw=true&include_references=1").json()
    assert answer["raw_content"] == LIBRARY["pdf-tables/SKILL.md"]
    assert [r["content"] for r in answer["references"]] == ["Columns first.\n"]


def test_a_name_that_nobody_has_is_a_404_with_near_names_and_never_another_skill(
    served: Running,
) -> None:
    answer = served.get("/skill/pdf-table")
    assert answer.status_code == 404
    conforms(answer.json(), "Error")
    assert answer.json()["error"]["near"] == ["pdf-tables"]
    assert "pdf-tables" in answer.json()["error"]["hint"]


@for_each("path", ["/skill/", "/skill/%20", "/skill/%20%09%20", "/skill//"])
def test_a_blank_name_is_a_400(served: Running, path: str) -> None:
    answer = served.get(path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "blank_name")


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


def test_a_name_that_two_skills_share_lists_their_ids(tmp_path: Path) -> None:
    files = {
        "a/report/SKILL.md": document("report", "First."),
        "b/report/SKILL.md": document("report", "Second."),
    }
    with running(tmp_path / "skills", files) as server:
        answer = server.get("/skill/report")
        assert answer.status_code == 409
        near = answer.json()["error"]["near"]
        assert len(near) == 2
        assert str(tmp_path) not in answer.text
        found = {server.get(f"/skill/{name}").json()["description"] for name in near}
        assert found == {"First.", "Second."}
        listed = server.get("/search?q=report&source=local").json()["skills"]
        assert sorted(skill["id"] for skill in listed) == sorted(near)


def test_a_remote_skill_comes_by_source_and_by_its_whole_name(
    tmp_path: Path, up: FakeServers, settings: Settings
) -> None:
    fill(up)
    with running(tmp_path / "skills", settings=settings) as server:
        for path in ("/skills/acme/skills/pdf", "/skill/acme/skills/pdf"):
            answer = server.get(f"{path}?include_references=true&include_raw=true")
            conforms(answer.json(), "Skill")
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


def test_the_catalog_goes_before_the_remotes(
    tmp_path: Path, up: FakeServers, settings: Settings
) -> None:
    fill(up)
    files = {"pdf/SKILL.md": document("pdf", "Our own.", "Local body.")}
    with running(tmp_path / "skills", files, settings=settings) as server:
        assert server.get("/skill/pdf").json()["content"] == "Local body."
    assert up.requests == []


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


def test_remotes_that_fail_are_a_502_and_not_a_404(
    tmp_path: Path, up: FakeServers, settings: Settings
) -> None:
    up.faults.add("*", "*", faults.status(500), times=None)
    with running(tmp_path / "skills", settings=settings) as server:
        for path in ("/skill/unheard-of", "/skills/acme/skills/pdf"):
            answer = server.get(path)
            assert answer.status_code == 502
            conforms(answer.json(), "Error")
            assert answer.json()["error"]["sources"]
