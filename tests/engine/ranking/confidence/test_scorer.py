"""The scorer behind the protocol: scores, explanations, settings, activity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import Query, Skill
from skillyard.engine.ranking.confidence.scorer import CONFIDENCE
from skillyard.errors import InvalidInput
from skillyard.scorers import Confidence, Explanation
from tests.engine.ranking.confidence.skills import PATHS, WORDS, filler, skill, skills
from tests.requirements import requirement
from tests.tables import for_each

QUERIES = st.builds(
    lambda words, files, active: Query(" ".join(words), tuple(files), tuple(active)),
    st.lists(st.sampled_from(WORDS), max_size=12),
    st.lists(st.sampled_from(PATHS), max_size=4),
    st.lists(st.sampled_from(["test", "react guide", "ALPHA", "", "the", "unknown"]), max_size=2),
)
SETTINGS = st.builds(
    Confidence,
    pattern_weight=st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    keyword_weight=st.sampled_from([0.0, 0.5, 1.0]),
    activity_boost=st.sampled_from([0.0, 0.5, 1.0, 1.2, 5.0]),
    monotone_guard=st.booleans(),
)


def check(node: Explanation) -> None:
    values = [part.value for part in node.parts]
    if node.parts and node.op == "sum":
        assert node.value == pytest.approx(sum(values))
    if node.op == "product":
        product = 1.0
        for value in values:
            product *= value
        assert node.value == pytest.approx(product)
    for part in node.parts:
        assert part.op != "calibration"
        check(part)


@given(skills(), QUERIES, SETTINGS)
@requirement("explain:score-is-value")
def test_every_node_follows_from_its_parts(
    candidates: list[Skill], query: Query, settings: Confidence
) -> None:
    scored = settings.bind(candidates).prepare(query)
    for one in candidates:
        tree = scored.explain(one)
        check(tree.raw())
        if tree.op == "calibration":
            (raw,) = tree.parts
            assert raw.op == "sum"
            assert tree.note


@given(skills(), QUERIES, SETTINGS)
def test_other_settings_on_the_same_snapshot_are_as_good_as_bound_anew(
    candidates: list[Skill], query: Query, settings: Confidence
) -> None:
    bound = CONFIDENCE.bind(candidates)
    assert (
        bound.using(settings).prepare(query).scores()
        == settings.bind(candidates).prepare(query).scores()
    )


@requirement("confidence:activity")
@for_each(
    ("entry", "boosted"),
    [
        ("React-Testing", True),
        (" react-testing ", True),
        ("testing", True),
        ("tests", True),
        ("jest react", True),
        ("GraphQL", True),
        ("tools", True),
        ("react cooking", False),
        ("component", False),
        ("react-test-kit", False),
        ("the", False),
        ("", False),
    ],
)
def test_activity_matches_a_name_or_words_of_name_keywords_and_tags(
    entry: str, boosted: bool
) -> None:
    one = skill(
        "react-testing",
        "React component testing",
        keywords=["jest", "graphql"],
        tags=["testing"],
        trigger_keywords=["tools"],
    )
    bound = CONFIDENCE.bind([one, *filler()])
    plain = bound.prepare(Query("jest")).scores()[0][1]
    active = bound.prepare(Query("jest", (), (entry, entry))).scores()[0][1]
    assert active == pytest.approx(plain * 1.2 if boosted else plain)


@requirement("confidence:activity-alone")
def test_activity_alone_surfaces_no_skill() -> None:
    one = skill("react-testing", keywords=["jest"])
    scored = CONFIDENCE.bind([one]).prepare(Query("", (), ("react-testing", "jest")))
    assert scored.scores() == []
    assert scored.explain(one).value == 0.0
    assert scored.reason(one) == ""


def test_a_sum_above_one_is_calibrated_down_to_it() -> None:
    one = skill("deploy", keywords=["deploy"], files=["*.ts"])
    scored = Confidence(pattern_weight=3.0).bind([one]).prepare(Query("deploy", ("a.ts",)))
    tree = scored.explain(one)
    assert (tree.op, tree.value, tree.note) == ("calibration", 1.0, "at most 1")
    assert tree.raw().value > 1.0


@requirement("confidence:reason")
def test_a_reason_names_three_patterns_then_five_words() -> None:
    one = skill(
        "deploy",
        keywords=["docker", "cache", "graph", "login", "audit"],
        files=["*.ts", "*.py", "*.md", "*.go"],
    )
    query = Query(
        "audit login graph cache docker deploying", ("a.ts", "b.ts", "a.py", "a.md", "a.go")
    )
    assert CONFIDENCE.bind([one]).prepare(query).reason(one) == (
        "File patterns: *.ts, *.py, *.md | Keywords: deploying, audit, login, graph, cache"
    )


def test_a_reason_shows_hidden_characters_and_stays_one_line() -> None:
    one = skill(files=["*\n{\u202e,x}.ts"])
    reason = CONFIDENCE.bind([one]).prepare(Query("", ("a x.ts", "b\nx.ts"))).reason(one)
    assert "\n" not in reason
    assert "\u202e" not in reason


@for_each(
    "settings",
    [
        {"pattern_weight": -0.1},
        {"keyword_weight": "1"},
        {"activity_boost": float("nan")},
        {"activity_boost": True},
        {"short_terms": "ui"},
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(settings: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(settings))):
        Confidence(**settings)  # type: ignore[arg-type]
