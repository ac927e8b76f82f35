"""The usage report in a real browser: readable, as wide as the screen, and nothing is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillyard.serving.web.usage_page import usage_page
from skillyard.shapes.usage import (
    Conflict,
    Day,
    RequestGroup,
    SkillUsage,
    UnusedSkill,
    Usage,
)
from tests.serving.web.audits import CONTRAST, LEVELS
from tests.serving.web.browser import ABSENT, CHROMIUM, DRIVER, browser, driver

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        (CHROMIUM is None or DRIVER is None) and not os.environ.get("CI"), reason=ABSENT
    ),
]

LONG = "a-name-without-end" * 16
USAGE = Usage(
    logs=("decisions.jsonl",),
    days=None,
    first="2026-11-20T09:30:00.000Z",
    last="2027-11-21T09:30:00.000Z",
    decisions=300,
    fired=100,
    abstained=200,
    small_talk=3,
    without_text=4,
    repeated=2,
    skills=(
        SkillUsage(
            name=LONG,
            slug=LONG,
            fired=100,
            fallback=0,
            share=1 / 3,
            low=0.28,
            high=0.39,
            near=7,
            margin=0.1,
            last="2027-11-21T09:30:00.000Z",
            tokens=400,
            cost=40_000,
        ),
    ),
    unused=(UnusedSkill(name="b", slug="b", decisions=300, high=0.0126, hidden=False),),
    groups=(
        RequestGroup(
            count=9,
            requests=("book a flight", LONG),
            different=7,
            terms=("flight",),
            nearest=("b",),
        ),
    ),
    conflicts=(Conflict(first="a", second="b", close=4, together=5, first_ahead=1),),
    cost=40_000,
    per_day=(
        Day(day="2026-11-20", fired=60, abstained=90),
        Day(day="2027-11-21", fired=40, abstained=110),
    ),
    events={"no_index": 2},
    unreadable=1,
    left_out=1,
)


def test_the_page_is_readable_at_every_width_and_scrolls_its_tables_only(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    page = tmp_path / "usage.html"
    page.write_bytes(usage_page(USAGE))
    # Chromium makes a socket below this folder, whose path may have 107 bytes.
    short = tmp_path_factory.mktemp("usage")
    with driver(short) as client, browser(client, short / "profile") as window:
        for width, scheme in ((1_280, "light"), (390, "light"), (1_280, "dark")):
            window.resize(width, 900, phone=width == 390)
            window.media(prefers_color_scheme=scheme)
            window.open(page.as_uri())
            window.until("return document.readyState === 'complete'")
            assert window.run("return document.documentElement.scrollWidth") == width
            assert window.run(CONTRAST) == []
            assert window.run(LEVELS) == []
            # the policy in the page has not refused its style sheet
            assert (
                window.run("return getComputedStyle(document.querySelector('dd')).margin") == "0px"
            )
        assert window.count("svg.days rect") == 4
        regions = [name for role, name in window.heard() if role == "region"]
        assert len(regions) == 4
        assert window.complaints() == []
