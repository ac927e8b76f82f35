"""What one skill or one page costs is bounded, and nobody else waits for it. Real server."""

from __future__ import annotations

import threading
import time

import pytest

from skillyard.serve.web.markdown import MAX_CHARACTERS
from tests.engine.ranking.confidence.test_patterns import LONG_PATHS, evil
from tests.requirements import requirement
from tests.serve.http.local_server import Running, running
from tests.serve.mcp.local_servers import document

pytest.importorskip("markdown_it", reason="markdown-it-py is not installed: skillyard[serve]")

QUOTES = ">" * 19 + "a\n" + "b\n" * (MAX_CHARACTERS // 2 - 20)
"""The reader looks at each line once for each level: ten seconds before there was a bound."""
ANSWERED_S = 10.0
"""On the slowest machine; eight such pages held a search up for a minute."""


def library() -> dict[str, str | bytes]:
    _, patterns = evil()
    listed = "".join(f"    - {pattern!r}\n" for pattern in patterns)
    triggers = f"triggers:\n  files:\n{listed}"
    return {
        "evil/SKILL.md": document("evil", "Matches everything.", "Body.", triggers),
        "quotes/SKILL.md": document("quotes", "Quotes within quotes.", QUOTES),
        "honest/SKILL.md": document(
            "honest", "Reads logs.", "Body.", "triggers:\n  files: ['*9']\n"
        ),
    }


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    with running(tmp_path_factory.mktemp("work") / "skills", library()) as here:
        yield here


@requirement("safety:work:bounded")
@pytest.mark.parametrize("route", ["/evaluate", "/select"])
def test_patterns_of_one_skill_cost_a_request_little_and_are_named(
    served: Running, route: str
) -> None:
    began = time.process_time()
    done = served.post(route, {"text": "logs", "files": LONG_PATHS})
    assert time.process_time() - began < ANSWERED_S
    assert done.status_code == 200, done.text[:300]
    shape = done.json()
    if route == "/evaluate":
        assert [each["skillName"] for each in shape["results"]] == ["honest"]
        assert "Not all file patterns of `evil` were compared" in shape["message"]
    else:
        assert all(each["name"] != "evil" for each in shape["selected"])


@requirement("safety:work:bounded")
def test_a_search_does_not_wait_for_pages_that_cost_much(served: Running) -> None:
    pages: list[int] = []

    def get() -> None:
        pages.append(served.get("/page/skills/local/quotes").status_code)

    threads = [threading.Thread(target=get) for _ in range(8)]
    for thread in threads:
        thread.start()
    began = time.monotonic()
    assert served.get("/search", params={"q": "logs"}).status_code == 200
    assert time.monotonic() - began < ANSWERED_S
    for thread in threads:
        thread.join()
    assert pages == [200] * 8
    assert "nested too deep" in served.get("/page/skills/local/quotes").text
