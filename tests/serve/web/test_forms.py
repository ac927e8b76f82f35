"""What forms send: an address where there is one, the page itself where a request is too long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest

from skillyard import Catalog, Query
from skillyard.cli import main
from skillyard.hosts.operations.skill_selection import Selected, select_skills
from skillyard.install.sources.settings import Settings
from skillyard.serve.http.routes import pages
from skillyard.serve.runtime.guards import FORM
from skillyard.serve.web.addresses import MAX_CHARACTERS
from skillyard_testkit import FakeServers
from tests.configuration import configure
from tests.engine.embedding.letters import Letters, install
from tests.serve.http.local_server import Running, raw, request, running, until
from tests.serve.web.page_parser import harm, read
from tests.serve.web.states import LONG_REQUEST
from tests.shared_data import REPOSITORY
from tests.tables import for_each

EXAMPLES = REPOSITORY / "examples" / "skills"
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture(scope="module")
def library() -> Iterator[Running]:
    with running(EXAMPLES, local_only=True) as server:
        yield server


def sent(server: Running, path: str, values: Mapping[str, str], **headers: str) -> httpx2.Response:
    body = urlencode(values).replace("%0A", "%0D%0A")  # as browsers send line ends
    given = {**BROWSER, "Content-Type": FORM, **headers}
    return server.client.post(path, content=body, headers=given)


@for_each(
    ("path", "values", "address"),
    [
        ("/", {"q": "fill a pdf form"}, "/?q=fill+a+pdf+form#verdict"),
        ("/", {"q": "a", "source": "local", "scorer": "overlap", "limit": "5"},
         "/?q=a&source=local&scorer=overlap&limit=5#verdict"),
        # What stays at its default does not make the address longer.
        ("/", {"q": "a", "scorer": "hybrid", "limit": "10"}, "/?q=a#verdict"),
        ("/", {"q": " "}, "/"),
        ("/", {"q": "first\nsecond"}, "/?q=first%0Asecond#verdict"),
    ],
)  # fmt: skip
def test_a_short_request_gets_an_address_that_can_be_kept(
    library: Running, path: str, values: dict[str, str], address: str
) -> None:
    answer = sent(library, path, values)
    assert (answer.status_code, answer.headers["location"]) == (303, address)
    assert library.get(address.partition("#")[0], headers=BROWSER).status_code == 200


def test_a_long_request_is_answered_where_it_is_sent_to(library: Running) -> None:
    assert len(urlencode({"q": LONG_REQUEST})) > MAX_CHARACTERS
    answer = sent(library, "/", {"q": LONG_REQUEST})
    assert answer.status_code == 200
    page = read(answer.content)
    assert harm(page) == []
    assert page.all("textarea", id="q")[0].text == [LONG_REQUEST]
    assert "too long for an address" in page.text()
    # No link names half of a request: its rank would be another one's.
    assert all(len(address) <= MAX_CHARACTERS for address in page.addresses())


def test_the_longest_request_passes_and_its_line_ends_count_once(library: Running) -> None:
    longest = "\u8868\n" * 10_000
    assert sent(library, "/", {"q": longest}).status_code == 200
    too_long = sent(library, "/", {"q": longest + "x"})
    assert too_long.status_code == 422
    assert "at most 20,000 characters" in read(too_long.content).text()


@for_each(
    ("headers", "status"),
    [
        ({}, 303),
        ({"Sec-Fetch-Site": "same-origin"}, 303),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
          "Sec-Fetch-Dest": "document"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Content-Type": "application/json"}, 415),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 415),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Encoding": "gzip"}, 415),
    ],
)  # fmt: skip
def test_no_page_of_another_site_sends_a_form_here(
    library: Running, headers: dict[str, str], status: int
) -> None:
    assert sent(library, "/", {"q": "deploy"}, **headers).status_code == status


@for_each("route", ["/search", "/select", "/evaluate"])
def test_a_form_is_not_taken_where_json_is(library: Running, route: str) -> None:
    """A form needs no leave of the service to be sent across sites; JSON does."""
    assert sent(library, route, {"q": "deploy", "text": "deploy"}).status_code == 415


def test_a_form_that_is_no_form_is_refused_with_a_page(library: Running) -> None:
    head = (f"Content-Type: {FORM}", "Accept: text/html", "Connection: close", "Content-Length: 5")
    answer = raw(library.port, request("POST", "/", *head, body=b"q=%ff", host="localhost"))
    assert answer.status == 422
    assert "percent-encoded" in read(answer.body).text()


REQUESTS = ("fill in a pdf form", "broken csv", "walk the dog", "tune this slow sql query")


@for_each("scorer", ["hybrid", "overlap", "relevance", "confidence", "triggers"])
def test_scores_are_those_of_the_command_line_and_of_rank_digit_by_digit(
    library: Running, scorer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in (*REQUESTS, LONG_REQUEST):
        ranked = library.get("/rank", params={"q": text, "scorer": scorer}).json()["matches"]
        answer = sent(library, "/", {"q": text, "scorer": scorer})
        if answer.status_code == 303:
            answer = library.get(answer.headers["location"].partition("#")[0], headers=BROWSER)
        cards = _cards(answer.text)
        assert cards == [f"{match['score']:.2f}" for match in ranked]
        if text == LONG_REQUEST:
            continue
        main(["rank", text, "--root", str(EXAMPLES), "--scorer", scorer, "--limit", "10"])
        printed = capsys.readouterr().out.splitlines()[1:-1]
        assert cards == [_column(line) for line in printed if re.match(r" ?[0-9]", line)]


def _cards(html: str) -> list[str]:
    return re.findall(r'(?s)<p class="score">.*?<strong>(.*?)</strong>', html)


def _column(line: str) -> str:
    found = re.search(r"\s(\d+\.\d\d)(\s|$)", line)
    assert found is not None, line
    return found[1]


def test_a_search_of_an_empty_library_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    root.mkdir()
    with running(root, {}) as server:
        for path in ("/", "/?q=fill+in+a+pdf+form"):
            text = read(server.get(path, headers=BROWSER).content).text()
            assert "There are no skills in this library" in text
            assert str(root) in text
    for hides in ({"token": "hunter2"}, {"token": "hunter2", "host": "127.0.0.1",
                                         "allowed_hosts": ("skills.example",)}):  # fmt: skip
        with running(root, {}, **hides) as server:
            named = {**BROWSER, "Authorization": "Bearer hunter2"}
            text = read(server.get("/", headers=named).content).text()
            assert "There are no skills in this library" in text
            assert str(root) not in text


@for_each(
    ("values", "shown"),
    [
        ({"q": "pdf"}, "overlap"),
        ({"q": "pdf", "source": "skills.sh"}, "overlap"),
        ({"q": "pdf", "source": "local"}, "hybrid+letters"),
        ({"q": "pdf", "scorer": "hybrid"}, "hybrid"),
        ({"q": "pdf", "source": "local", "scorer": "hybrid"}, "hybrid"),
        # The default of the catalog, in the form when other sources are added to it.
        ({"q": "pdf", "scorer": "hybrid+letters"}, "overlap"),
        ({}, "overlap"),
    ],
)
def test_the_form_shows_the_scorer_that_ranks_the_chosen_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: dict[str, str], shown: str
) -> None:
    install(monkeypatch, Letters())
    configure(monkeypatch, tmp_path, scorer={"name": "hybrid+letters"})
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    rankers: list[str] = []

    def recording(catalog: Catalog, query: Query, scorer: Any, caller: str) -> Selected:
        rankers.append(scorer if isinstance(scorer, str) else scorer.name)
        return select_skills(catalog, query, scorer=scorer, caller=caller)

    monkeypatch.setattr(pages, "select_skills", recording)
    with FakeServers() as up:
        settings = Settings(
            enabled=("skills.sh",), skills_sh_url=up.skills_sh, ranker="overlap",
            shipped_registry=False,
        )  # fmt: skip
        with running(tmp_path / "skills", settings=settings) as server:
            until(lambda: "note" not in server.post("/select", {"text": "pdf"}).json())
            page = read(server.get("/", params=values, headers=BROWSER).content)
            options = [each.attributes for each in page.all("option")]
            selected = [each["value"] for each in options if "selected" in each]
            assert selected == [shown, "10"]
            ranks_catalog = bool(values) and values.get("source") != "skills.sh"
            assert rankers == ([shown] if ranks_catalog else [])
