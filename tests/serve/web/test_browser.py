"""The pages in a real Chromium: with a script and without, by keys, in the dark, on a phone.

With ``SKILLYARD_ARTIFACTS`` set to a folder, screenshots are left there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers, faults
from tests.serve.http.local_server import Running, running
from tests.serve.web.audits import CONTRAST, LEVELS, SMALL
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
PHONE = (360, 740)
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
    "source": LOCAL + "&view=source",
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


def test_the_views_of_a_skill_work_without_a_script(site: Running, scriptless: Browser) -> None:
    scriptless.open(site.base + REMOTE)
    scriptless.click(".prose a")
    scriptless.until("return document.querySelector('#text').innerText.includes('layout.md')")
    assert "Columns first." in scriptless.text(".prose")
    scriptless.click(".views a")
    scriptless.until("return document.querySelector('#text').innerText === 'Instructions'")
    scriptless.click(".views a")
    scriptless.until("return document.querySelector('#text').innerText === 'SKILL.md'")
    assert "name: pdf" in scriptless.text(".source")


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


def test_filters_change_the_results_at_once(site: Running, window: Browser) -> None:
    window.open(f"{site.base}{SEARCH}&source=local")
    window.run("""
        const list = document.querySelector('#scorer'); list.value = 'relevance';
        list.dispatchEvent(new Event('change', { bubbles: true }));""")
    window.until(
        "return document.querySelector('.card .signals')?.innerText.includes('popularity')"
    )
    assert "scorer=relevance" in window.url


def test_everything_is_reached_by_keys(site: Running, window: Browser) -> None:
    def focused() -> Any:
        return window.run("return document.activeElement.closest('.card')?.value ?? "
                          "document.activeElement.id")  # fmt: skip

    window.open(site.base + SEARCH)
    window.press("/")
    assert focused() == "q"
    assert window.run("return document.querySelector('#q').value") == "fill a pdf form"
    window.press("Down")
    assert focused() == 1
    window.press("j")
    assert focused() == 2
    window.press("k", "k")
    assert focused() == "q"
    window.press("Down", "Down", "Up")
    assert focused() == 1
    window.press("Escape")
    assert focused() == "q"
    window.press("Down", "Enter")
    window.until("return location.pathname.startsWith('/page/skills/')")
    window.press("Escape")
    window.until("return location.pathname === '/' && document.querySelector('.card') !== null")
    window.open(site.base + LOCAL)
    window.press("Tab")
    assert window.run("return document.activeElement.className") == "skip"
    assert window.run("return document.activeElement.getBoundingClientRect().top >= 0")
    window.press("Enter")
    window.until("return document.activeElement.id === 'main'")


def test_the_focus_is_seen(site: Running, window: Browser) -> None:
    window.open(site.base + SEARCH)
    window.press("/", "Down")
    style = window.run(
        "const style = getComputedStyle(document.activeElement);"
        "return [style.outlineStyle, style.outlineWidth]"
    )
    assert style == ["solid", "3px"]


def test_what_is_copied_is_what_is_shown(site: Running, window: Browser) -> None:
    window.open(site.base + REMOTE)
    window.devtools(
        "Browser.grantPermissions",
        permissions=["clipboardReadWrite", "clipboardSanitizedWrite"],
        origin=site.base,
    )

    def copied(css: str) -> str:
        window.click(css)
        window.until(f"return document.querySelector({css!r}).textContent === 'Copied'")
        return str(window.run("return navigator.clipboard.readText()"))

    assert copied(".copied:nth-of-type(1) button") == "acme/skills/pdf"
    assert copied(".copied:nth-of-type(2) button") == "skillyard add acme/skills/pdf"
    block = copied("button[data-copy-from]")
    assert block.startswith("[skill:pdf]\n# Merging")
    assert block.endswith("\n[/skill]")
    assert block == window.run("return document.querySelector('#block-text').textContent")
    window.until("return document.querySelector('.copied button').textContent.startsWith('Copy ')")


def test_copying_works_where_the_browser_has_no_clipboard_for_the_page(
    site: Running, window: Browser
) -> None:
    """A service that is reached by a plain name is no secure context."""
    window.open(site.base + REMOTE)
    window.run("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    window.click(".copied button")
    window.until("return document.querySelector('.copied button').textContent === 'Copied'")
    assert window.count("body > textarea") == 0


def test_a_theme_that_is_chosen_by_hand_stays(site: Running, window: Browser) -> None:
    def paper() -> Any:
        return window.run("return getComputedStyle(document.body).backgroundColor")

    window.open(site.base)
    light = paper()
    window.click("#theme")
    dark = paper()
    assert dark != light
    window.open(site.base + "/page/skills")
    assert paper() == dark
    assert window.run("return document.querySelector('#theme').ariaPressed") == "true"
    window.click("#theme")
    assert paper() == light
    window.run("localStorage.clear()")


def test_an_error_while_typing_is_said_and_leaves_the_results(
    site: Running, window: Browser
) -> None:
    window.open(site.base + SEARCH)
    window.run("window.fetch = () => Promise.reject(new TypeError('gone'))")
    window.click("#q")
    window.write("s")
    window.until("return document.querySelector('#said').textContent.includes('does not answer')")
    assert window.count(".card") > 1


# ----- for every page -----


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(
    site: Running, window: Browser, kept: Path, name: str, scheme: str
) -> None:
    """WCAG 2.2 AA: 4.5 to 1, and 3 to 1 for large text, computed from what is painted."""
    window.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
    window.open(site.base + EVERY[name])
    window.run("for (const d of document.querySelectorAll('details')) d.open = true")
    assert window.run(CONTRAST) == []
    window.run("for (const d of document.querySelectorAll('form ~ * details')) d.open = false")
    window.screenshot(kept / f"{name}-{scheme}.png")


@pytest.mark.parametrize("name", EVERY)
def test_a_phone_shows_everything_without_sideways_scrolling(
    site: Running, window: Browser, kept: Path, name: str
) -> None:
    window.resize(*PHONE, phone=True)
    window.open(site.base + EVERY[name])
    window.run("for (const d of document.querySelectorAll('details')) d.open = true")
    assert window.run("return document.documentElement.scrollWidth") == PHONE[0]
    assert window.run("return window.innerWidth") == PHONE[0]
    assert window.run(SMALL) == []
    window.run("for (const d of document.querySelectorAll('details')) d.open = false")
    window.screenshot(kept / f"{name}-phone.png")


@pytest.mark.parametrize("name", EVERY)
def test_names_roles_and_headings_are_as_they_are_heard(
    site: Running, window: Browser, name: str
) -> None:
    window.open(site.base + EVERY[name])
    heard = window.heard()
    wanting = {"link", "button", "textbox", "searchbox", "combobox", "checkbox", "heading"}
    assert [role for role, said in heard if role in wanting and not said.strip()] == []
    roles = [role for role, _ in heard]
    for landmark in ("banner", "main", "contentinfo", "navigation"):
        assert roles.count(landmark) == 1
    assert window.run(LEVELS) == []
    assert window.run("return document.title").endswith("skillyard")


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


def test_a_policy_that_is_broken_would_be_seen(site: Running, scripted: Browser) -> None:
    """What keeps the tests above from passing for want of looking."""
    scripted.open(site.base)
    scripted.run("""
        const script = document.createElement('script'); script.textContent = 'window.ran = true';
        document.body.append(script);""")
    assert any("Content Security Policy" in said for said in scripted.complaints())
    assert scripted.run("return window.ran") is None


def test_motion_is_left_out_where_it_is_not_wanted(site: Running, window: Browser) -> None:
    window.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")
    window.open(site.base + SEARCH)
    assert window.run("return getComputedStyle(document.querySelector('.card'))"
                      ".transitionDuration") == "0s"  # fmt: skip


def test_pages_behind_a_token_are_readable_without_it(
    tmp_path: Path, scripted: Browser, kept: Path
) -> None:
    scripted.media(prefers_color_scheme="light")
    with running(tmp_path / "skills", token="hunter2") as server:
        scripted.open(server.base)
        assert "reverse proxy" in scripted.text("main")
        scripted.screenshot(kept / "token.png")
        said = [line for line in scripted.complaints() if "401" not in line]
        assert [line for line in said if "style" in line or "script" in line] == []
