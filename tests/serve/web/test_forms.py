"""What forms send: an address where there is one, the page itself where a request is too long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlencode

import httpx2
import pytest

from skillyard.cli import main
from skillyard.serve.runtime.guards import FORM
from skillyard.serve.web.addresses import MAX_CHARACTERS
from tests.serve.http.local_server import Running, running
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
