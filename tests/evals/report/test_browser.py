"""The report in a real Chromium, opened from disk: readable, harmless, whole on a phone.

With ``SKILLYARD_ARTIFACTS`` set to a folder, screenshots are left there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillyard.evals.report.render import html, html_cases
from skillyard.evals.report.report import build_report
from tests.evals.report.making import CHANGES, HOSTILE, every, hostile, text_of
from tests.serve.web.audits import CONTRAST, LEVELS, SMALL
from tests.serve.web.browser import ABSENT, CHROMIUM, DRIVER, Browser, browser, driver
from tests.serve.web.test_accessible import AXE, RUN

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        (CHROMIUM is None or DRIVER is None) and not os.environ.get("CI"), reason=ABSENT
    ),
]
DESK = (1_100, 800)
PHONE = (360, 740)
OPENED = "for (const d of document.querySelectorAll('details')) d.open = true"
# Every hostile text once, one after the other, in every field.
WORST = "\n".join(HOSTILE)


def show(window: Browser, address: str) -> None:
    """Open a report, and wait until all of it is read: from disk that is not said by itself."""
    window.open(address)
    window.until(
        "return location.href === arguments[0] && document.readyState === 'complete'"
        " && document.querySelector('footer') !== null",
        address,
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Reports on disk, and their addresses."""
    folder = tmp_path_factory.mktemp("reports")
    worst = [hostile(WORST, each) for each in every(prompts=1)]
    reports = {
        "report": (build_report(every(runs=1), changes=CHANGES), text_of),
        "fake": (
            build_report(
                every(backend="fake", aborted=True, stop_reason="budget", limit=40),
            ),
            text_of,
        ),
        "stand-in": (build_report(every(backend="fake")), text_of),
        "hostile": (build_report(worst), lambda run, path: WORST),
        "empty": (build_report([{}]), text_of),
    }
    addresses = {}
    for name, (report, texts) in reports.items():
        for path, markup in (
            (folder / f"{name}.html", html(report, cases_link=f"{name}.cases.html")),
            (folder / f"{name}.cases.html", html_cases(report, texts, report_link=f"{name}.html")),
        ):
            path.write_text(markup, encoding="utf-8")
            addresses[path.name.removesuffix(".html")] = path.as_uri()
    return addresses


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with (
        driver(tmp_path_factory.mktemp("driver")) as client,
        browser(client, tmp_path_factory.mktemp("profile")) as window,
    ):
        yield window


@pytest.fixture
def window(opened: Browser) -> Iterator[Browser]:
    """The window at its usual size; when a test is over, the console has said nothing."""
    opened.resize(*DESK)
    opened.media(prefers_color_scheme="light")
    yield opened
    assert opened.complaints() == []


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where screenshots are left."""
    folder = Path(os.environ.get("SKILLYARD_ARTIFACTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


NAMES = ("report", "fake", "hostile", "report.cases", "hostile.cases")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(
    pages: dict[str, str], window: Browser, pictures: Path, name: str, scheme: str
) -> None:
    window.media(prefers_color_scheme=scheme)
    show(window, pages[name])
    window.screenshot(pictures / f"eval-{name}-{scheme}.png")
    window.run(OPENED)
    assert window.run(CONTRAST) == []


@pytest.mark.parametrize("name", [*NAMES, "empty"])
def test_a_phone_shows_everything_without_sideways_scrolling(
    pages: dict[str, str], window: Browser, pictures: Path, name: str
) -> None:
    window.resize(*PHONE, phone=True)
    show(window, pages[name])
    window.screenshot(pictures / f"eval-{name}-phone.png")
    window.run(OPENED)
    assert window.run("return document.documentElement.scrollWidth") == PHONE[0]
    assert window.run(SMALL) == []


@pytest.mark.parametrize("name", [*NAMES, "empty"])
def test_nothing_is_asked_of_anybody_and_nothing_runs(
    pages: dict[str, str], window: Browser, name: str
) -> None:
    show(window, pages[name])
    assert window.run("return performance.getEntriesByType('resource').length") == 0
    assert window.count("script, img, iframe, object, link, form, [style], [onclick]") == 0
    assert window.run("return getComputedStyle(document.body).maxWidth") == "1216px"


def test_a_script_in_the_page_would_be_refused_and_seen(
    pages: dict[str, str], opened: Browser
) -> None:
    """What keeps the test above from passing for want of looking."""
    show(opened, pages["report"])
    opened.run("""
        const script = document.createElement('script'); script.textContent = 'window.ran = true';
        document.body.append(script);""")
    assert any("Content Security Policy" in text for text in opened.complaints())
    assert opened.run("return window.ran") is None


@pytest.mark.parametrize("name", NAMES)
def test_names_and_headings_are_as_they_are_heard(
    pages: dict[str, str], window: Browser, name: str
) -> None:
    show(window, pages[name])
    assert window.run(LEVELS) == []
    heard = window.heard()
    wanting = {"link", "heading", "img", "image", "DisclosureTriangle"}
    assert [role for role, text in heard if role in wanting and not text.strip()] == []
    roles = [role for role, _ in heard]
    for landmark in ("banner", "main", "contentinfo"):
        assert roles.count(landmark) == 1


def test_the_verdicts_are_on_the_first_screen(pages: dict[str, str], window: Browser) -> None:
    """Of a stand-in too, whose banner stands above them."""
    for name in ("report", "stand-in"):
        show(window, pages[name])
        place = "document.querySelector('#skills tbody tr:nth-child(4)')"
        assert window.run(f"return {place}.getBoundingClientRect().bottom") < DESK[1]
        assert window.run("return [...document.querySelectorAll('details')].some(d => d.open)") is (
            False
        )


def test_a_case_is_opened_by_keys_and_shows_both_texts(
    pages: dict[str, str], window: Browser, pictures: Path
) -> None:
    show(window, pages["report.cases"])
    shown = "return [...document.querySelectorAll('pre.answer')].filter(p => p.checkVisibility())"
    assert window.run(f"{shown}.length") == 0
    window.run(
        "[...document.querySelectorAll('details.case')]"
        ".find(one => one.querySelectorAll('pre.answer').length === 2)"
        ".querySelector('summary').focus()"
    )
    window.press("Enter")
    window.until(f"{shown}.length === 2")
    left, right = window.run(f"{shown}.map(p => p.getBoundingClientRect().toJSON())")
    assert left["top"] == right["top"]
    assert left["right"] < right["left"]
    style = window.run(
        "const style = getComputedStyle(document.activeElement);"
        "return [document.activeElement.tagName, style.outlineStyle, style.outlineWidth]"
    )
    assert style == ["SUMMARY", "solid", "3px"]
    window.run("document.querySelector('details.case[open]').scrollIntoView()")
    window.screenshot(pictures / "eval-case.png")


@pytest.mark.skipif(not AXE, reason="axe-core is not here: `make pages` fetches it and runs this")
@pytest.mark.parametrize("name", [*NAMES, "empty", "stand-in"])
def test_axe_finds_nothing_wrong(
    pages: dict[str, str], window: Browser, pictures: Path, name: str
) -> None:
    """At the widths of a desk and a phone, in both schemes, with every part opened."""
    for width, height, scheme in ((1_280, 900, "light"), (1_280, 900, "dark"), (390, 844, "light")):
        window.resize(width, height, phone=width < 500)
        window.media(prefers_color_scheme=scheme)
        show(window, pages[name])
        window.screenshot(pictures / f"eval-{name}-{width}-{scheme}.png")
        window.run(OPENED)
        window.run(Path(AXE).read_text(encoding="utf-8"))
        passed, violations = window.call("POST", "/execute/async", {"script": RUN, "args": []})
        assert violations == []
        assert passed > 10


def test_paper_is_light_and_shows_whole_texts(pages: dict[str, str], window: Browser) -> None:
    window.media(prefers_color_scheme="dark")
    show(window, pages["report.cases"])
    screen = window.run("return getComputedStyle(document.body).backgroundColor")
    window.devtools("Emulation.setEmulatedMedia", media="print", features=[])
    paper = window.run("return getComputedStyle(document.body).backgroundColor")
    assert (screen, paper) == ("rgb(20, 24, 22)", "rgb(251, 250, 248)")
    window.run(OPENED)
    assert window.run("return getComputedStyle(document.querySelector('.answer')).maxHeight") == (
        "none"
    )
    window.devtools("Emulation.setEmulatedMedia", media="", features=[])
