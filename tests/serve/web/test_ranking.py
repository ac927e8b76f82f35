"""The page ranks as the command line and ``/rank`` do."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from skillyard.cli import main
from tests.serve.http.local_server import Running, running
from tests.shared_data import REPOSITORY
from tests.tables import for_each

EXAMPLES = REPOSITORY / "examples" / "skills"


@pytest.fixture(scope="module")
def library() -> Iterator[Running]:
    with running(EXAMPLES, local_only=True) as server:
        yield server


REQUESTS = ("fill in a pdf form", "broken csv", "walk the dog", "tune this slow sql query")


@for_each("scorer", ["hybrid", "overlap", "relevance", "confidence", "triggers"])
def test_scores_are_those_of_the_command_line_and_of_rank_digit_by_digit(
    library: Running, scorer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in REQUESTS:
        asked = {"q": text, "scorer": scorer}
        ranked = library.get("/rank", params=asked).json()["matches"]
        cards = _cards(library.get("/", params=asked, headers={"Accept": "text/html"}).text)
        assert cards == [f"{match['score']:.2f}" for match in ranked]
        main(["rank", text, "--root", str(EXAMPLES), "--scorer", scorer, "--limit", "10"])
        printed = capsys.readouterr().out.splitlines()[1:-1]
        assert cards == [_column(line) for line in printed if re.match(r" ?[0-9]", line)]


def _cards(html: str) -> list[str]:
    return re.findall(r'(?s)<p class="score">.*?<strong>(.*?)</strong>', html)


def _column(line: str) -> str:
    found = re.search(r"\s(\d+\.\d\d)(\s|$)", line)
    assert found is not None, line
    return found[1]
