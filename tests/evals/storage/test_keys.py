"""Keys: everything that could change an answer is in them, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.criteria import Criterion
from skillyard.evals.models.parameters import OfflineModel
from skillyard.evals.models.protocol import Request
from skillyard.evals.storage.keys import canonical, generation_key, judgement_key
from tests.tables import for_each

MODEL = OfflineModel("openai", "127.0.0.1:8080")
REQUEST = Request("m", "system", "user", 100, 0.5, 1, None)
CRITERIA = (Criterion("a", 0.5, "d"), Criterion("b", 0.5, "e"))


def judged(**more: Any) -> str:
    given = {
        "model": MODEL,
        "judge_model": "j",
        "prompt_version": "1",
        "user_prompt": "p",
        "criteria": CRITERIA,
        "slots": ("x", "y"),
        "run": 0,
    }
    return judgement_key(**{**given, **more})


@for_each(
    "change",
    [{"model": "n"}, {"system": "other"}, {"user": "other"}, {"max_tokens": 101},
     {"temperature": 0.6}, {"seed": 2}, {"schema": {"type": "object"}}],
)  # fmt: skip
def test_what_is_sent_is_in_the_key(change: dict[str, Any]) -> None:
    assert generation_key(MODEL, replace(REQUEST, **change), 0) != generation_key(MODEL, REQUEST, 0)


def test_so_are_run_provider_and_host_but_no_port() -> None:
    """A stand-in gets another port each time; who it is does not change by that."""
    key = generation_key(MODEL, REQUEST, 0)
    assert generation_key(MODEL, REQUEST, 1) != key
    assert generation_key(OfflineModel("openai", "example.org"), REQUEST, 0) != key
    assert generation_key(OfflineModel("anthropic", "127.0.0.1:8080"), REQUEST, 0) != key
    assert generation_key(OfflineModel("openai", "127.0.0.1:9"), REQUEST, 0) == key


def test_what_is_not_sent_is_not_in_the_key() -> None:
    claude = OfflineModel("anthropic", "api")
    assert generation_key(claude, REQUEST, 0) == generation_key(
        claude, replace(REQUEST, temperature=0.9, seed=3), 0
    )


@for_each(
    "change",
    [{"judge_model": "k"}, {"prompt_version": "2"}, {"user_prompt": "q"}, {"slots": ("y", "x")},
     {"slots": ("x", "z")}, {"run": 1}, {"criteria": CRITERIA[::-1]}, {"criteria": CRITERIA[:1]},
     {"criteria": (replace(CRITERIA[0], description="other"), CRITERIA[1])},
     {"criteria": (replace(CRITERIA[0], weight=0.4), CRITERIA[1])},
     {"model": OfflineModel("openai", "elsewhere")}],
)  # fmt: skip
def test_what_a_judge_is_shown_is_in_the_key(change: dict[str, Any]) -> None:
    assert judged(**change) != judged()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(value=JSON)
def test_one_value_has_one_text(value: Any) -> None:
    def turned(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: turned(part[name]) for name in reversed(part)}
        return [turned(each) for each in part] if isinstance(part, list) else part

    assert canonical(value) == canonical(turned(value))


@given(system=st.text(), user=st.text())
def test_texts_do_not_run_into_each_other(system: str, user: str) -> None:
    whole = generation_key(MODEL, replace(REQUEST, system=system + user, user=""), 0)
    parts = generation_key(MODEL, replace(REQUEST, system=system, user=user), 0)
    assert (whole == parts) == (not user)
