"""Keys: everything that could change an answer is in them, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.criteria import Criterion
from skillyard.evals.judgement.judge import JudgeQuestion
from skillyard.evals.models.protocol import ModelRequest
from skillyard.evals.models.providers import ADDRESSES, server_of
from skillyard.evals.models.sdk import offline_model
from skillyard.evals.storage import generation_key, judgement_key
from tests.tables import for_each

MODEL = offline_model("openai", "127.0.0.1:8080")
REQUEST = ModelRequest("m", "system", "user", 100, 0.5)
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
    fields = {**given, **more}
    return judgement_key(fields.pop("model"), JudgeQuestion(**fields))


@for_each(
    "change",
    [{"model": "n"}, {"system": "other"}, {"user": "other"}, {"max_tokens": 101},
     {"temperature": 0.6}, {"schema": {"type": "object"}},]
)  # fmt: skip
def test_what_is_sent_is_in_the_key(change: dict[str, Any]) -> None:
    assert generation_key(MODEL, replace(REQUEST, **change), 0) != generation_key(MODEL, REQUEST, 0)


def test_so_are_run_provider_and_server() -> None:
    """Two servers on one machine are two models, though both call theirs by one name."""
    key = generation_key(MODEL, REQUEST, 0)
    assert generation_key(MODEL, REQUEST, 1) != key
    assert generation_key(offline_model("openai", "example.org"), REQUEST, 0) != key
    assert generation_key(offline_model("anthropic", "127.0.0.1:8080"), REQUEST, 0) != key
    assert generation_key(offline_model("openai", "127.0.0.1:9"), REQUEST, 0) != key


@for_each(
    ("provider", "generation", "judgement"),
    [
        (
            "anthropic",
            "e1c71f02dd1e5f6394a7cadf81e7eabd69b89720679b11f84ac5b4527d191ce9",
            "343e41c7a2f2f03f4d0dd7815a1406d82af5250e83883569f8b97f2ac0264358",
        ),
        (
            "openai",
            "b88c0f33cd0c15472278189d5f72393178caee6f1cd8a549c890004ba9251871",
            "9f97da5c1f7b59ef361171f9a4cd293ed1ebb7a883034d5dbe753da45722f90c",
        ),
    ],
)
def test_paid_answers_of_the_providers_keep_their_keys(
    provider: str, generation: str, judgement: str
) -> None:
    """The keys of release 1, which knew a server by its host alone."""
    own = offline_model(provider, server_of(provider, ADDRESSES[provider]))
    assert generation_key(own, REQUEST, 0) == generation
    assert judged(model=own) == judgement


def test_what_is_not_sent_is_not_in_the_key() -> None:
    claude = offline_model("anthropic", "api")
    assert generation_key(claude, REQUEST, 0) == generation_key(
        claude, replace(REQUEST, temperature=0.9), 0
    )


@for_each(
    "change",
    [{"judge_model": "k"}, {"prompt_version": "2"}, {"user_prompt": "q"}, {"slots": ("y", "x")},
     {"slots": ("x", "z")}, {"run": 1}, {"criteria": CRITERIA[::-1]}, {"criteria": CRITERIA[:1]},
     {"criteria": (replace(CRITERIA[0], description="other"), CRITERIA[1])},
     {"criteria": (replace(CRITERIA[0], weight=0.4), CRITERIA[1])},
     {"model": offline_model("openai", "elsewhere")}],
)  # fmt: skip
def test_what_a_judge_is_shown_is_in_the_key(change: dict[str, Any]) -> None:
    assert judged(**change) != judged()


@given(system=st.text(), user=st.text())
def test_texts_do_not_run_into_each_other(system: str, user: str) -> None:
    whole = generation_key(MODEL, replace(REQUEST, system=system + user, user=""), 0)
    parts = generation_key(MODEL, replace(REQUEST, system=system, user=user), 0)
    assert (whole == parts) == (not user)
