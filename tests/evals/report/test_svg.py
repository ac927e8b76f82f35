"""Drawing: scales keep their order, ticks are round, and every plot says in words what it shows."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.report.frontier import Point, effects, frontier, on_frontier, small_frontier
from skillyard.evals.report.svg import Cell, Scale, figure, heat_map, mark, round_ticks, span
from tests.evals.report.making import HOSTILE, size_impact

numbers = st.floats(-1e9, 1e9, allow_nan=False)
NAMES = ("full", "summary", "baseline", "full_siblings", "other")


@given(numbers, st.floats(1e-3, 1e9), st.integers(2, 12))
def test_ticks_are_round_few_and_within(low: float, width: float, most: int) -> None:
    high = low + width
    ticks = round_ticks(low, high, most)
    assert len(ticks) <= most
    assert all(low - width * 1e-6 <= tick <= high + width * 1e-6 for tick in ticks)
    gaps = {f"{after - before:.0e}"[0] for before, after in itertools.pairwise(ticks)}
    assert gaps <= {"1", "2", "5"}


def test_ticks_are_the_ones_a_person_would_write() -> None:
    assert round_ticks(0, 1) == (0, 0.2, 0.4, 0.6, 0.8, 1)
    assert round_ticks(2.81, 3.74, 7) == (3, 3.2, 3.4, 3.6)
    assert round_ticks(-1, 1, 5) == (-1, -0.5, 0, 0.5, 1)
    assert round_ticks(3, 3) == (3,)


@given(st.lists(numbers, min_size=2), st.booleans())
def test_a_scale_keeps_the_order_of_values_and_its_own_ends(
    values: list[float], root: bool
) -> None:
    scale = Scale(min(values), max(values) + 1, 10, 300, root)
    drawn = [scale.at(value) for value in sorted(values)]
    assert drawn == sorted(drawn)
    assert all(10 <= place <= 300 for place in drawn)
    assert scale.at(-1e12) == 10
    assert scale.at(1e12) == 300


@given(st.floats(1, 1e7))
def test_ticks_of_a_root_axis_stay_apart(high: float) -> None:
    scale = Scale(0, high, 0, 400, root=True)
    ticks = scale.ticks()
    assert ticks[0] == 0
    assert len(ticks) >= 2
    assert all(scale.at(b) - scale.at(a) >= 400 / 6 for a, b in itertools.pairwise(ticks))


@given(st.text(), st.text())
def test_a_plot_is_xml_whatever_it_is_called(title: str, said: str) -> None:
    drawn = figure(10, 10, title, said, mark(1, 1, "circle", "mark", title))
    root = ElementTree.fromstring(drawn)
    assert [child.tag for child in root][:2] == ["title", "desc"]
    assert root.attrib["role"] == "img"


def test_hostile_texts_in_a_plot_are_texts() -> None:
    for text in HOSTILE:
        cells = [[Cell(text, 0.5, True, text), Cell(text, 2.0, False, text)]]
        root = ElementTree.fromstring(heat_map(text, text, [text], [text, text], cells))
        assert {each.tag for each in root.iter()} == {"svg", "title", "desc", "text", "g", "rect"}


def test_an_interval_that_leaves_the_scale_shows_an_arrow() -> None:
    scale = Scale(-1, 1, 0, 100)
    assert "polyline" not in span(scale, -1, 0.5, 5, "w")
    assert span(scale, -3, 0.5, 5, "w").count("polyline") == 1
    assert span(scale, -3, 7, 5, "w").count("polyline") == 2


def test_a_heat_map_frames_what_is_right_and_shows_every_number() -> None:
    cells = [
        [Cell("9", 0.9, True, "a"), Cell("1", 0.1, False, "b")],
        [Cell("·", 0.0, False, "c"), Cell("7", 1.0, True, "d")],
    ]
    drawn = heat_map("who for whom", "said", ["1 one", "2 two"], ["1", "2"], cells)
    root = ElementTree.fromstring(drawn)
    assert [r.attrib["class"] for r in root.iter("rect")] == [
        "right h5", "wrong h1", "wrong h0", "right h5",
    ]  # fmt: skip
    assert {"9", "1", "7", "1 one"} <= {text.text for text in root.iter("text")}


points = st.lists(
    st.builds(Point, st.sampled_from(NAMES), st.floats(0, 1e6), st.floats(1, 5)), max_size=8
)


@given(points)
def test_nothing_cheaper_equals_a_point_on_the_frontier(given_points: list[Point]) -> None:
    best = on_frontier(given_points)
    for point in given_points:
        beaten = any(
            other.tokens <= point.tokens
            and other.score >= point.score
            and (other.tokens, other.score) != (point.tokens, point.score)
            for other in given_points
        )
        same = [(b.tokens, b.score) for b in best].count((point.tokens, point.score))
        assert same == (0 if beaten else 1)


@given(points)
def test_labels_of_the_frontier_do_not_cover_each_other(given_points: list[Point]) -> None:
    arms = [
        {"condition": p.condition, "tokens": p.tokens, "mean_score": p.score} for p in given_points
    ]
    drawn = frontier(arms)
    assert bool(drawn) == bool(arms)
    if not drawn:
        return
    boxes = []
    for text in ElementTree.fromstring(drawn).iter("text"):
        if "halo" in text.attrib["class"]:
            wide = 6.6 * len(text.text or "")
            x, y = float(text.attrib["x"]), float(text.attrib["y"])
            boxes.append((x, x + wide, y))
    for (a, b, y), (c, d, z) in itertools.combinations(boxes, 2):
        assert abs(y - z) >= 14.9 or b <= c + 0.1 or d <= a + 0.1


def test_arms_that_are_equalled_for_less_are_hollow() -> None:
    arms = [
        {"condition": "baseline", "tokens": 0, "mean_score": 3.0},
        {"condition": "summary", "tokens": 100, "mean_score": 4.0},
        {"condition": "full", "tokens": 2_000, "mean_score": 3.9, "ci_low": 3.5, "ci_high": 4.2},
    ]
    root = ElementTree.fromstring(frontier(arms))
    hollow = [e for e in root.iter() if "hollow" in e.attrib.get("class", "")]
    assert [e[0].text for e in hollow] == ["full skill: 2,000 tokens, 3.90"]
    edge = next(e for e in root.iter("polyline") if e.attrib["class"] == "edge")
    assert len(edge.attrib["points"].split()) == 2


def test_plots_without_figures_are_not_drawn() -> None:
    assert frontier(None) == frontier([{"condition": "full", "tokens": 3}]) == ""
    two = {arm: {"tokens_estimated": 5, "mean_score": 3.0} for arm in ("full", "baseline")}
    assert small_frontier("s", two) == ""
    assert effects([("s", {})]) == ""


def test_every_skill_is_in_the_plot_of_effects_by_its_number() -> None:
    summary = {k: v for k, v in size_impact()["summary"].items() if k != "_overall"}
    root = ElementTree.fromstring(effects(list(summary.items())))
    shown = [t.text or "" for t in root.iter("text") if t.attrib["class"] == "entry halo"]
    assert sorted(shown) == sorted([str(n) for n in range(1, 9)] * 2)
