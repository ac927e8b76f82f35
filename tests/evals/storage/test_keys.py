"""Keys: everything that could change an answer is in them, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.judgement.judge import JudgeQuestion
from skillyard.evals.judgement.verdicts import Criterion
from skillyard.evals.layers.session import ModelSession
from skillyard.evals.models.calls import ChatModel, ModelRequest
from skillyard.evals.models.providers import ADDRESSES, server_of
from skillyard.evals.models.sdk import offline_model
from skillyard.evals.settings import RunSettings
from skillyard.evals.storage import Entries
from tests.tables import for_each

MODEL = offline_model("openai", "127.0.0.1:8080")
REQUEST = ModelRequest("m", "system", "user", 100, 0.5)
CRITERIA = (Criterion("a", 0.5, "d"), Criterion("b", 0.5, "e"))


def session_of(model: ChatModel) -> ModelSession:
    return ModelSession(model, Entries("nowhere"), RunSettings(eval_type="effectiveness"))


def generated(model: ChatModel = MODEL, /, run: int = 0, **changes: Any) -> str:
    return session_of(model).generation_path("tea", replace(REQUEST, **changes), run)


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
    session = session_of(fields.pop("model"))
    return session.judgement_path("tea", JudgeQuestion(**fields))


@for_each(
    "change",
    [{"model": "n"}, {"system": "other"}, {"user": "other"}, {"max_tokens": 101},
     {"temperature": 0.6}, {"schema": {"type": "object"}},]
)  # fmt: skip
def test_what_is_sent_is_in_the_key(change: dict[str, Any]) -> None:
    assert generated(**change) != generated()


def test_so_are_run_provider_and_server() -> None:
    """Two servers on one machine are two models, though both call theirs by one name."""
    path = generated()
    assert generated(run=1) != path
    assert generated(offline_model("openai", "example.org")) != path
    assert generated(offline_model("anthropic", "127.0.0.1:8080")) != path
    assert generated(offline_model("openai", "127.0.0.1:9")) != path


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
    assert generated(own) == f"generations/tea/{generation}.json"
    assert judged(model=own) == f"judgements/tea/{judgement}.json"


def test_what_is_not_sent_is_not_in_the_key() -> None:
    claude = offline_model("anthropic", "api")
    assert generated(claude) == generated(claude, temperature=0.9)


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
    whole = generated(system=system + user, user="")
    parts = generated(system=system, user=user)
    assert (whole == parts) == (not user)
