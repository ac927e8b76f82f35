"""The pages in a real Chromium: with a script and without, by keys, in the dark, on a phone.

With ``SKILLYARD_ARTIFACTS`` set to a folder, screenshots are left there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers, faults
from tests.serve.http.local_server import Running, running
from tests.serve.web.browser import ABSENT, CHROMIUM, DRIVER, Browser, browser, driver
from tests.shared_data import REPOSITORY
from tests.worked_examples.making import document

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        (CHROMIUM is None or DRIVER is None) and not os.environ.get("CI"), reason=ABSENT
    ),
]
DESK = (1_000, 800)
BODY = """# Merging

See [the layout](references/layout.md) and ![a chart](https://x.example/a.png).

<script>document.title = "ran"</script>

| field | meaning |
|:------|--------:|
| a     | 1       |

A word that is much too long to fit: averyveryverylongwordwithoutanyplacetobreakitatallinthemiddle
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The skills of the examples, and remotes of which one is rate-limited."""
    patch = pytest.MonkeyPatch()
    patch.setenv("SKILLYARD_CACHE", str(tmp_path_factory.mktemp("cache")))
    with FakeServers() as up:
        up.add_repository(
            "acme/skills",
            {
                "skills/pdf/SKILL.md": document("pdf", "Fill and merge PDF forms.", BODY),
                "skills/pdf/references/layout.md": "# Columns\n\nColumns first.\n",
            },
        )
        up.list_skill("acme/skills", "pdf", name="pdf", installs=51_500)
        up.faults.add("well_known", "*", faults.rate_limited(429, 40), times=None)
        settings = Settings(
            enabled=("skills.sh", "github", "well-known"),
            skills_sh_url=up.skills_sh,
            github_api_url=up.github_api,
            github_raw_url=up.github_raw,
            sites=(up.well_known,),
            repositories=("acme/skills",),
            shipped_registry=False,
        )
        with running(REPOSITORY / "examples" / "skills", settings=settings) as server:
            yield server
    patch.undo()


@pytest.fixture(scope="module")
def chromedriver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    with driver(tmp_path_factory.mktemp("driver")) as client:
        yield client


@pytest.fixture(scope="module")
def scripted(
    chromedriver: httpx2.Client, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    with browser(chromedriver, tmp_path_factory.mktemp("profile")) as window:
        yield window


@pytest.fixture(scope="module")
def scriptless(
    chromedriver: httpx2.Client, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    with browser(chromedriver, tmp_path_factory.mktemp("profile"), script=False) as window:
        yield window


@pytest.fixture
def window(scripted: Browser) -> Iterator[Browser]:
    """The window at its usual size; when a test is over, the console has said nothing."""
    scripted.resize(*DESK)
    scripted.media(prefers_color_scheme="light")
    yield scripted
    assert scripted.complaints() == []


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Where screenshots are left."""
    folder = Path(os.environ.get("SKILLYARD_ARTIFACTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


SEARCH = "/?q=fill+a+pdf+form"
LOCAL = "/page/skills/local/pdf-form-filling?q=fill+a+pdf+form"
REMOTE = "/page/skills/acme/skills/pdf?q=fill+a+pdf+form"
ABSTAINS = "/?q=walk+the+dog&limit=5&source=local"
EVERY = {
    "home": "/", "search": SEARCH, "abstains": ABSTAINS, "skill": LOCAL, "remote": REMOTE,
    "relevance": SEARCH + "&scorer=relevance",
}  # fmt: skip


# ----- without a script -----


def test_a_search_works_without_a_script(site: Running, scriptless: Browser, kept: Path) -> None:
    scriptless.open(site.base)
    scriptless.click("#q")
    scriptless.write("fill a pdf form")
    scriptless.click("#search button")
    scriptless.until("return document.querySelectorAll('.card').length > 1")
    assert "q=fill+a+pdf+form" in scriptless.url
    names = scriptless.run(
        "return [...document.querySelectorAll('.card h3')].map(h => h.innerText)"
    )
    assert {"pdf", "pdf-form-filling"} == set(names[:2])
    assert "rate-limited, try again in" in scriptless.text(".sources")
    assert scriptless.run("return [...document.querySelectorAll('button.copy')].every("
                          "b => b.offsetParent === null)")  # fmt: skip
    scriptless.screenshot(kept / "no-script.png")
    scriptless.click(".card details summary")
    assert "words" in scriptless.text(".card .tree")
    scriptless.click(".card h3 a[href*='pdf-form-filling']")
    scriptless.until("return location.pathname.startsWith('/page/skills/')")
    assert "Why this rank" in scriptless.text("main")
    scriptless.click("#back")
    scriptless.until("return document.querySelectorAll('.card').length > 1")


# ----- with it -----


def test_results_come_while_typing_and_the_address_follows(site: Running, window: Browser) -> None:
    window.open(site.base)
    window.click("#q")
    window.write("tune a slow sql query")
    window.until("return document.querySelector('#count')?.innerText.includes('slow sql query')")
    assert "sql-query-tuning" in window.text(".card")
    assert "q=tune+a+slow+sql+query" in window.url
    assert "live" not in window.url
    window.until("return document.querySelector('#said').textContent.includes('slow sql query')")
    assert "Ask the other sources too" in window.text(".sources")
    assert window.run("return document.activeElement.id") == "q"
    window.press("Enter")
    window.until("return document.querySelector('.sources')?.innerText.includes('skills.sh')")
    assert window.run("return document.activeElement.id") == "verdict"
    assert "tune" in window.run("return document.querySelector('#q').value")
    window.run("history.back()")
    window.until("return document.readyState === 'complete'")


def test_the_last_word_wins_however_the_answers_come(site: Running, window: Browser) -> None:
    window.open(site.base)
    # The first answer is held until the second one has been shown.
    window.run("""
        const real = window.fetch; let held = null; window.asked = [];
        window.fetch = (url, options) => {
          window.asked.push(url);
          if (held) return real(url, options);
          held = new Promise((resolve) => { window.release = resolve; });
          return held.then(() => real(url, { ...options, signal: undefined }));
        };""")
    window.click("#q")
    window.write("sql")
    window.until("return window.asked.length === 1")
    window.write(" query plan")
    window.until("return document.querySelector('#count')?.innerText.includes('sql query plan')")
    window.run("window.release()")
    window.run("return fetch('/health').then((answer) => answer.text())")
    assert "sql query plan" in window.text("#count")
    assert "q=sql+query+plan" in window.url


# ----- for every page -----


@pytest.mark.parametrize("name", EVERY)
def test_nothing_is_asked_of_another_host_and_no_policy_is_broken(
    site: Running, window: Browser, name: str
) -> None:
    window.open(site.base + EVERY[name])
    asked = window.run("return performance.getEntriesByType('resource').map((e) => e.name)")
    assert asked
    assert [url for url in asked if not url.startswith(site.base)] == []
    assert window.run("return document.title") != "ran"
    assert window.count("main script, main img, main iframe, [style], [onclick]") == 0
