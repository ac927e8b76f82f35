"""``/search`` answers Skyll's calls in Skyll's shape, says what failed, and keeps a budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skillyard.context import estimate_tokens
from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers, faults
from tests.requirements import requirement
from tests.serve.http.local_server import LIBRARY, Running, running
from tests.serve.http.shapes import conforms
from tests.tables import for_each
from tests.worked_examples.making import document


def ids(answer: Any) -> list[str]:
    return [skill["id"] for skill in answer["skills"]]


@requirement("client:skyll")
def test_addresses_that_skylls_client_takes_as_text_are_never_null(served: Running) -> None:
    for path in ("/skill/pdf-tables", "/skills/local/pdf-tables"):
        answer = served.get(path).json()
        conforms(answer, "SkillDocument")
        assert answer["refs"] == {"skills_sh": "", "github": "", "raw": None}
    for each in served.get("/search?q=pdf").json()["skills"]:
        assert each["refs"] == {"skills_sh": "", "github": "", "raw": None}


def test_no_path_of_the_machine_stands_in_the_answer(served: Running) -> None:
    text = served.get("/search?q=pdf&include_raw=true&include_references=true&explain=true").text
    assert served.context.options.roots[0] not in text
    assert "SKILL.md" not in text.replace(LIBRARY["pdf-tables/SKILL.md"], "")


@for_each("name", ["nothing", "hybrid+other", "overlap+other"])
def test_a_scorer_that_is_unknown_or_asks_an_embedder_is_refused(
    served: Running, name: str
) -> None:
    for answer in (
        served.get("/search", params={"q": "x", "scorer": name}),
        served.get("/rank", params={"q": "x", "scorer": name}),
        served.post("/select", {"text": "x", "scorer": name}),
    ):
        assert (answer.status_code, answer.json()["error"]["field"]) == (422, "scorer")


def test_cards_keep_texts_within_the_budget_best_first(tmp_path: Path) -> None:
    body = "word " * 400
    files = {
        f"report-{n}/SKILL.md": document(f"report-{n}", "Write a report.", body) for n in "abc"
    }
    with running(tmp_path / "skills", files) as server:
        whole = server.get("/search?q=report").json()
        tokens = estimate_tokens(body.strip())
        assert [skill["tokens"] for skill in whole["skills"]] == [tokens] * 3
        for budget, kept in ((0, 0), (tokens - 1, 0), (tokens, 1), (2 * tokens + 5, 2)):
            answer = server.get(f"/search?q=report&cards={budget}&include_raw=true").json()
            conforms(answer, "SearchDocument")
            assert ids(answer) == ids(whole)
            with_text = [skill["content"] is not None for skill in answer["skills"]]
            assert with_text == [n < kept for n in range(3)]
            assert [skill["omitted"] for skill in answer["skills"]] == [not t for t in with_text]
            assert all((s["raw_content"] is None) == s["omitted"] for s in answer["skills"])


def test_a_search_over_the_catalog_alone_is_tagged_and_told_to_be_the_same(served: Running) -> None:
    first = served.get("/search?q=pdf&source=local")
    again = served.get(
        "/search?q=pdf&source=local", headers={"If-None-Match": first.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    tag = first.headers["etag"]
    for tags in (tag.removeprefix("W/"), f'"other", {tag}', "*"):
        known = served.get("/search?q=pdf&source=local", headers={"If-None-Match": tags})
        assert known.status_code == 304
    other = served.get(
        "/search?q=unit&source=local", headers={"If-None-Match": first.headers["etag"]}
    )
    assert other.status_code == 200


def test_local_and_remote_skills_are_found_together(
    tmp_path: Path, up: FakeServers, settings: Settings
) -> None:
    fill(up)
    with running(tmp_path / "skills", settings=settings) as server:
        answer = server.get("/search?q=pdf+tables&limit=20").json()
        conforms(answer, "SearchDocument")
        assert {skill["source"] for skill in answer["skills"]} >= {"local", "acme/skills"}
        assert answer["sources"][0]["name"] == "local"
        assert "etag" not in server.get("/search?q=pdf").headers
        only = server.get("/search?q=pdf+tables&source=skills.sh").json()
        assert [source["name"] for source in only["sources"]] == ["skills.sh"]


def fill(up: FakeServers) -> None:
    up.add_repository(
        "acme/skills",
        {
            "skills/pdf/SKILL.md": document("pdf", "Extract PDF tables.", "Remote body."),
            "skills/pdf/references/a.md": "reference",
        },
    )
    up.list_skill("acme/skills", "pdf", name="pdf", installs=500)
    up.add_well_known("pdf-site", {"SKILL.md": document("pdf-site", "PDF tables.")}, "skill-md")


def test_one_source_that_fails_is_named_and_the_others_answer(
    tmp_path: Path, up: FakeServers, settings: Settings
) -> None:
    fill(up)
    up.faults.add("skills_sh", "*", faults.status(500), times=None)
    with running(tmp_path / "skills", settings=settings) as server:
        answer = server.get("/search?q=pdf").json()
        conforms(answer, "SearchDocument")
        assert answer["partial"] is True
        states = {source["name"]: source["state"] for source in answer["sources"]}
        assert states["skills.sh"] == "failed"
        assert states["local"] == "ok"
        health = server.get("/health")
        assert (health.status_code, health.json()["status"]) == (200, "degraded")
        figures = server.get("/metrics").text
        assert 'skillyard_upstream_failures_total{code="status",source="skills.sh"}' in figures
