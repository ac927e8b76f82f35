"""The pages over a real server: who gets them, with which headers, and what happens on errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers
from tests.serve.http.conftest import settings, up
from tests.serve.http.local_server import Running, running
from tests.serve.web.page_parser import harm, read
from tests.tables import for_each
from tests.worked_examples.making import document

__all__ = ["settings", "up"]

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("library") / "skills") as server:
        yield server


def page(server: Running, path: str, **headers: str) -> httpx2.Response:
    return server.get(path, headers={**BROWSER, **headers})


PAGES = (
    "/", "/?q=pdf+tables", "/?q=zebra", "/?q=pdf&source=local&scorer=overlap&limit=5&live=true",
    "/page/skills/local/pdf-tables", "/page/skills/local/pdf-tables?q=tables",
    "/page/skills/local/pdf-tables?file=references/layout.md",
    "/page/skills/local/pdf-tables?file=no.md", "/docs",
)  # fmt: skip


@for_each("path", PAGES)
def test_every_page_is_harmless_and_its_policy_allows_nothing_from_elsewhere(
    served: Running, path: str
) -> None:
    answer = page(served, path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(
        part.strip().partition(" ")[::2]
        for part in answer.headers["content-security-policy"].split(";")
    )
    assert policy == {
        "default-src": "'none'", "style-src": "'self'", "script-src": "'self'",
        "img-src": "'self'", "connect-src": "'self'", "form-action": "'self'",
        "base-uri": "'none'", "frame-ancestors": "'none'",
    }  # fmt: skip
    assert answer.headers["referrer-policy"] == "no-referrer"
    found = read(answer.content)
    assert harm(found) == []
    for address in found.addresses():
        assert address.startswith(("/", "#"))
        if address.startswith("/static/"):
            assert served.get(address).status_code == 200


def test_browsers_get_the_page_and_programs_the_names_and_links(served: Running) -> None:
    for accept in ("*/*", "application/json", "application/json, text/html;q=0.5", ""):
        answer = served.get("/", headers={"Accept": accept})
        assert answer.json()["name"] == "skillyard"
        assert "Accept" in answer.headers["vary"]
    answer = page(served, "/")
    assert "Find the skill that fits" in answer.text
    assert "pdf-tables" in read(answer.content).text()
    assert "Accept" in answer.headers["vary"]


def test_a_skill_s_page_holds_its_text_its_files_and_its_reasons(served: Running) -> None:
    text = read(page(served, "/page/skills/local/pdf-tables?q=tables").content).text()
    for said in ("Use a ruler.", "references/layout.md", "Why this rank", "It ranks 1 of",
                 "[skill:pdf-tables]", "Extract tables from PDF files."):  # fmt: skip
        assert said in text
    file = page(served, "/page/skills/local/pdf-tables?file=references/layout.md").text
    assert "Columns first." in file
    missing = page(served, "/page/skills/local/pdf-tables?file=../deploy/SKILL.md").text
    assert "There is no Markdown file" in missing
    assert "Ship it." not in missing


@for_each(
    ("path", "status", "said"),
    [
        ("/nothing", 404, "There is nothing here"),
        ("/page/skills/local/dploy", 404, "No skill is called 'dploy'"),
        ("/page/skills/local/%3Cscript%3Ealert(1)", 404, "'<script>alert(1)'"),
        ("/?q=" + "x" * 20_001, 422, "q: String should have at most 20000"),
        ("/?q=x&limit=many", 422, "limit: Input should be a valid integer"),
        ("/?q=x&scorer=best", 422, "scorer"),
        ("/?q=x&scorer=hybrid%2Bopenai", 422, "without an embedder"),
        ("/?q=x&source=nowhere", 422, "nowhere"),
        ("/?q=%ff", 422, "percent-encoded"),
        ("/static/secret.css", 404, "There is nothing here"),
        ("/static/..%2Fmarkup.py", 404, "There is nothing here"),
        ("/" + "a" * 33_000, 431, "too long"),
    ],
)
def test_errors_are_pages_for_browsers_and_data_for_programs(
    served: Running, path: str, status: int, said: str
) -> None:
    answer = page(served, path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    found = read(answer.content)
    assert said in found.text()
    if status != 431:
        assert harm(found) == []
    data = served.get(path, headers={"Accept": "application/json"})
    if not path.startswith("/?"):  # programs get the names and links there, whatever they ask
        assert data.status_code == status
        assert data.json()["error"]["code"]


def test_typing_asks_the_catalog_of_the_service_and_nobody_else(
    tmp_path: Path, up: FakeServers, settings: Settings
) -> None:
    remote(up)
    with running(tmp_path / "skills", settings=settings) as server:
        found = read(page(server, "/?q=pdf+tables&live=true").content)
        assert up.requests == []
        assert "Ask the other sources too" in found.text()
        assert "pdf-tables" in found.text()
        page(server, "/?q=pdf+tables")
        assert up.requests != []


def remote(up: FakeServers) -> None:
    up.add_repository(
        "acme/skills",
        {
            "skills/pdf/SKILL.md": document("pdf", "Extract PDF tables.", "Remote body."),
            "skills/pdf/references/a.md": "reference",
        },
    )
    up.list_skill("acme/skills", "pdf", name="pdf", installs=500)


def test_with_a_token_browsers_get_a_page_that_says_what_to_do(tmp_path: Path) -> None:
    with running(tmp_path / "skills", token="hunter2") as server:
        for path in ("/", "/static/skillyard.css", "/?token=hunter2"):
            answer = page(server, path)
            assert answer.status_code == 401
            found = read(answer.content)
            assert "reverse proxy" in found.text()
            assert found.addresses() == []
            assert found.all("script") == []
            assert "set-cookie" not in answer.headers
            assert "hunter2" not in answer.text
            policy = answer.headers["content-security-policy"]
            assert "style-src" not in policy
            assert "script-src" not in policy
        allowed = page(server, "/", Authorization="Bearer hunter2")
        assert allowed.status_code == 200
        assert "hunter2" not in allowed.text
