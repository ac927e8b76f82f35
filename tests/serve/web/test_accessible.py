"""Every page as axe-core and a keyboard find it, at two widths and in both schemes.

``make pages`` brings axe-core and leaves screenshots; so does ``SKILLYARD_AXE``, the path of an
``axe.min.js``, with ``SKILLYARD_ARTIFACTS``, a folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.http.local_server import Running, running
from tests.serve.http.test_building import cold, go_on  # noqa: F401 - fixtures of a state
from tests.serve.web.browser import ABSENT, CHROMIUM, DRIVER, Browser, browser, driver
from tests.serve.web.states import LONG_NAME, LONG_REQUEST, odd_library
from tests.shared_data import REPOSITORY

AXE = os.environ.get("SKILLYARD_AXE", "")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        (CHROMIUM is None or DRIVER is None) and not os.environ.get("CI"), reason=ABSENT
    ),
]
needs_axe = pytest.mark.skipif(
    not AXE, reason="axe-core is not here: `make pages` fetches it and runs this"
)
DESK = (1_280, 900)
PHONE = (390, 844)
SETTLED = "return document.getAnimations().every((each) => each.playState === 'finished')"


@pytest.fixture(scope="module")
def served() -> Iterator[Running]:
    with running(REPOSITORY / "examples" / "skills", local_only=True) as server:
        yield server


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    root = tmp_path_factory.mktemp("odd") / "skills"
    with running(root, odd_library(), local_only=True) as server:
        yield server


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    root = tmp_path_factory.mktemp("empty") / "skills"
    root.mkdir()
    with running(root, {}, local_only=True) as server:
        yield server


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with (
        driver(tmp_path_factory.mktemp("driver")) as client,
        browser(client, tmp_path_factory.mktemp("profile")) as window,
    ):
        if AXE:
            # In every page before its own scripts, and outside of what its policy governs.
            source = Path(AXE).read_text(encoding="utf-8")
            window.devtools("Page.addScriptToEvaluateOnNewDocument", source=source)
        yield window


@pytest.fixture
def window(opened: Browser) -> Iterator[Browser]:
    """The window at its usual size; when a test is over, the console has said nothing."""
    opened.resize(*DESK)
    opened.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")
    yield opened
    said = opened.complaints()
    assert [
        each for each in said if "status of 404" not in each and "status of 503" not in each
    ] == []


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Where screenshots are left."""
    folder = Path(os.environ.get("SKILLYARD_ARTIFACTS") or tmp_path) / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


FITS = "/?q=fill+in+a+pdf+form"
MAYBE = "/?q=the+axis+starts+at+95+%25+and+the+press+office+says+we%27re+lying.+are+we%3F"
STATES = {
    "home": ("served", "/"),
    "fits": ("served", FITS),
    "maybe": ("served", MAYBE),
    "none": ("served", "/?q=walk+the+dog"),
    "nothing": ("served", "/?q=zzzz"),
    "open-scale": ("served", "/?q=fill+in+a+pdf+form&scorer=overlap"),
    "skill": ("served", "/page/skills/local/pdf-form-filling?q=fill+in+a+pdf+form"),
    "odd-home": ("odd", "/"),
    "odd-search": ("odd", "/?q=sort+mail+by+sender"),
    "odd-skill": ("odd", f"/page/skills/local/{LONG_NAME}"),
    "empty": ("empty", "/"),
    "empty-search": ("empty", "/?q=fill+in+a+pdf+form"),
    "docs": ("served", "/docs"),
    "refusal": ("served", "/page/skills/local/pdf-form"),
    "building": ("cold", "/"),
    "long": ("served", ""),
}


VERDICTS = {"fits": "Fits: ", "maybe": "Perhaps: ", "none": "No skill fits this request"}


def show(window: Browser, name: str, request: pytest.FixtureRequest) -> None:
    """Open the page of a state, and wait until it stands still."""
    server, path = STATES[name]
    base = request.getfixturevalue(server).base
    window.open(base + path)
    if name == "long":
        window.run(
            "document.querySelector('#q').value = arguments[0];"
            "document.querySelector('#limit').value = 5;"
            "document.querySelector('#search').requestSubmit()",
            LONG_REQUEST,
        )
        window.until("return document.querySelector('#verdict') !== null")
    window.until(f"{SETTLED} && document.readyState === 'complete'")


RUN = """
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ['violations', 'incomplete'] }).then((found) => done(
  [found.passes.length, found.violations.map((each) =>
    `${each.id}: ${each.help}: ${each.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`)]
)).catch((error) => done([0, [String(error)]]));
"""


@needs_axe
@pytest.mark.parametrize("name", STATES)
def test_axe_finds_nothing_wrong_and_nothing_is_wider_than_the_screen(
    window: Browser, kept: Path, name: str, request: pytest.FixtureRequest
) -> None:
    show(window, name, request)
    if name in VERDICTS:
        assert window.text("#verdict").startswith(VERDICTS[name])
    for device, (width, height) in (("desk", DESK), ("phone", PHONE)):
        window.resize(width, height, phone=device == "phone")
        for scheme in ("light", "dark"):
            window.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
            window.screenshot(kept / f"{name}-{device}-{scheme}.png")
            if (device, scheme) == ("phone", "dark"):
                continue  # widths and colours do not meet: each was looked at by itself
            window.run("for (const d of document.querySelectorAll('details')) d.open = true")
            assert window.run("return document.documentElement.scrollWidth") == width
            passed, violations = window.call("POST", "/execute/async", {"script": RUN, "args": []})
            assert violations == []
            assert passed > 10
            window.run("for (const d of document.querySelectorAll('details')) d.open = false")
    window.open("about:blank")  # what is not ready asks again, and its server ends


def focused(window: Browser) -> Any:
    """Return what has the focus, and whether that can be seen."""
    return window.run(
        "const e = document.activeElement, style = getComputedStyle(e);"
        "return [e.id || e.getAttribute('name') || e.innerText.trim().slice(0, 30),"
        " style.outlineStyle !== 'none' || e.id === 'main' || e.id === 'verdict']"
    )


@pytest.mark.parametrize("name", ["fits", "none", "odd-home", "docs"])
def test_tab_reaches_everything_in_the_order_of_the_page_and_the_focus_is_seen(
    window: Browser, name: str, request: pytest.FixtureRequest
) -> None:
    show(window, name, request)
    wanted = window.run(
        "return [...document.querySelectorAll("
        "'a[href], button, input, select, textarea, summary, pre[tabindex]')]"
        ".filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled)"
        ".slice(0, 40)"
        ".map((e) => e.id || e.getAttribute('name') || e.innerText.trim().slice(0, 30))"
    )
    seen = []
    for _ in wanted:
        window.press("Tab")
        label, visible = focused(window)
        assert visible, label
        seen.append(label)
    assert seen == wanted


def test_enter_sends_the_search_and_with_shift_starts_a_line(
    window: Browser, served: Running
) -> None:
    window.open(served.base)
    window.click("#q")
    window.write("fill in")
    window.hold("Shift", "Enter")
    window.write("a pdf form")
    assert window.run("return document.querySelector('#q').value") == "fill in\na pdf form"
    window.press("Enter")
    window.until("return document.activeElement.id === 'verdict'")
    assert "q=fill+in%0Aa+pdf+form" in window.url.replace("%0D%0A", "%0A")


def test_a_prompt_is_sent_by_control_and_enter(window: Browser, served: Running) -> None:
    window.open(served.base)
    window.click("#q")
    window.run("document.querySelector('#q').value = arguments[0]", LONG_REQUEST)
    before = window.run("return document.querySelector('#q').getBoundingClientRect().height")
    assert before > 200  # the field has grown with its text
    window.hold("Control", "Enter")
    window.until("return document.querySelector('#verdict') !== null")
    assert "csv-cleaning" in window.text("#verdict")
    assert window.run("return document.querySelector('#q').value") == LONG_REQUEST
