"""Settings of a run: from configuration and command line, kept in an event, and read back."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InvalidInput
from skillyard.evals.settings import Config, Models, RunSettings
from tests.tables import for_each

CONFIG = Config(models=Models("gen", "judge"))


def settings(**given: Any) -> RunSettings:
    return RunSettings.of("size_impact", CONFIG, given)


def test_the_command_line_goes_before_the_configuration() -> None:
    own = settings()
    assert (own.model, own.judge_model, own.seed, own.orders) == ("gen", "judge", 42, "both")
    told = settings(model="m", seed=7, orders="single", max_calls=None)
    assert (told.model, told.judge_model, told.seed, told.orders) == ("m", "judge", 7, "single")
    assert told.max_calls == own.max_calls == 500


def test_the_model_judges_where_nobody_else_is_named() -> None:
    config = Config(models=Models("gen"))
    assert RunSettings.of("size_impact", config, {}).judge_model == "gen"
    assert RunSettings.of("size_impact", config, {"model": "m"}).judge_model == "m"
    assert RunSettings.of("size_impact", CONFIG, {"model": "m"}).judge_model == "judge"


def test_the_server_is_kept_with_its_port_and_path() -> None:
    assert settings(base_url="http://127.0.0.1:8080/v1").host == "http://127.0.0.1:8080/v1"
    assert asdict(settings())["host"] == "api.anthropic.com"


def test_the_server_is_the_one_that_a_call_would_reach_now(monkeypatch: Any) -> None:
    before = settings()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    assert before.with_server().host == "http://127.0.0.1:9"


VALID = st.builds(
    lambda **given: replace(settings(), **given),
    runs=st.integers(1, 1_000),
    seed=st.integers(0, 2**63 - 1),
    orders=st.sampled_from(["both", "single"]),
    limit=st.none() | st.integers(1, 1_000),
    skill=st.none() | st.text(),
    model=st.text(),
    role=st.text(),
    max_cost=st.none() | st.floats(0, 1e6),
    max_calls=st.none() | st.integers(0, 1_000_000),
    temperature=st.floats(0, 2),
    tie_band=st.floats(0, 4),
    min_score=st.none() | st.floats(-10, 10),
)


@given(original=VALID)
def test_what_is_kept_is_read_back(original: RunSettings) -> None:
    document = json.loads(json.dumps(asdict(original)))
    assert RunSettings.from_dict(document) == original


HOSTILE: list[dict[str, Any]] = [
    {}, {"eval_type": "other"}, {"eval_type": ["size_impact"]}, {"unknown": 1}, {"runs": 0},
    {"runs": "1"}, {"runs": True}, {"runs": 1.5}, {"seed": 2**63}, {"provider": "nobody"},
    {"orders": "both "}, {"temperature": float("nan")}, {"max_cost": float("inf")},
    {"max_cost": 10**400}, {"max_calls": -1}, {"limit": 0}, {"limit": -1}, {"limit": "3"},
    {"min_score": 10**400}, {"chars_per_token": 1e-300}, {"max_tokens": 10**12},
    {"judge_tokens": 1}, {"profiles": []}, {"profiles": {"m": 1}}, {"model": 5}, {"base_url": 5},
]  # fmt: skip


@for_each("change", HOSTILE, ids=[f"{each}"[:60] for each in HOSTILE])
def test_settings_that_nobody_kept_are_refused(change: dict[str, Any]) -> None:
    """An events file may come from anywhere: what it says is refused in words, never a crash."""
    document = {**asdict(settings()), **change} if change else {}
    with pytest.raises(InvalidInput):
        RunSettings.from_dict(document)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(name=st.sampled_from(sorted(asdict(settings()))), value=ANYTHING)
def test_one_setting_may_be_anything(name: str, value: Any) -> None:
    try:
        original = RunSettings.from_dict({**asdict(settings()), name: value})
    except InvalidInput:
        return
    assert RunSettings.from_dict(asdict(original)) == original


def test_models_are_wanted_only_where_they_are_asked() -> None:
    bare = Config()
    RunSettings.of("activation", bare, {}).require_models()
    with pytest.raises(InvalidInput, match="--model"):
        RunSettings.of("activation", bare, {"router": "model"}).require_models()
    with pytest.raises(InvalidInput, match="--model"):
        RunSettings.of("effectiveness", bare, {}).require_models()
