"""Every answer is looked up before it is paid for; what is kept may say anything."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillyard.evals.judgement.judge import JudgeQuestion
from skillyard.evals.judgement.verdicts import Criterion
from skillyard.evals.layers.session import ModelSession
from skillyard.evals.models.calls import ModelFailed, ModelReply, ModelRequest, TokenUsage
from skillyard.evals.settings import EvalOptions, RunSettings
from skillyard.evals.storage import Entries
from tests.evals.models.making import price_of
from tests.tables import for_each

CRITERIA = (Criterion("right", 0.6, "It is right."), Criterion("short", 0.4, "It is short."))
VERDICT: dict[str, Any] = {
    "criteria": [
        {"name": "right", "score_a": 4, "score_b": 2, "reasoning": "r"},
        {"name": "short", "score_a": 3, "score_b": 3, "reasoning": "r"},
    ],
    "overall_winner": "A",
}
REQUEST = ModelRequest("m", "system", "user")
KNOBS = RunSettings.__dataclass_fields__


class Model:
    provider, host = "openai", "test"

    def __init__(self, *replies: str | ModelFailed) -> None:
        self.replies = list(replies)
        self.requests = 0
        self.limits: list[float] = []

    def parameters(self, request: ModelRequest) -> dict[str, object]:
        return {"max_tokens": request.max_tokens}

    def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        self.requests += 1
        self.limits.append(timeout_s)
        replies = self.replies.pop(0)
        if isinstance(replies, ModelFailed):
            raise replies
        return ModelReply(replies, "end", TokenUsage(1_000, 500), sdk="openai 3")


def session(
    folder: Path, *replies: str | ModelFailed, **more: Any
) -> tuple[ModelSession, Model, list[str]]:
    warned: list[str] = []
    model = Model(*replies)
    a_session = ModelSession(
        model,
        Entries(str(folder), warned.append),
        RunSettings(
            eval_type="effectiveness", **{name: more.pop(name) for name in [*more] if name in KNOBS}
        ),
        EvalOptions(**more),
        dict.fromkeys("mj", price_of(1.0, 2.0)),
    )
    return a_session, model, warned


def judge(a_session: ModelSession) -> Any:
    return a_session.judge("tea", JudgeQuestion("j", "p", ("x", "y"), CRITERIA, 0))


def change(folder: Path, **fields: Any) -> Path:
    """Tamper with the only entry."""
    (path,) = [*folder.glob("*/*/*.json")]
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **fields}))
    return path


def test_an_answer_is_paid_for_once(tmp_path: Path) -> None:
    first, model, _ = session(tmp_path, "tea")
    a_session = first.generate("tea", REQUEST, 0)
    again = first.generate("tea", REQUEST, 0)
    assert a_session.text == "tea"
    assert a_session.cost == pytest.approx(0.002)
    assert (again.text, again.cost) == ("tea", 0.0)
    assert (model.requests, first.cache_hits, first.cost_of_cached) == (1, 1, 0)
    later, model, _ = session(tmp_path)
    assert later.generate("tea", REQUEST, 0).text == "tea"
    assert model.requests == 0
    assert later.cost_of_cached == pytest.approx(0.002)
    assert not later.live


def test_the_time_limit_grows_with_the_tokens_of_the_answer(tmp_path: Path) -> None:
    a_session, model, _ = session(tmp_path, "tea", "tea", json.dumps(VERDICT), judge_tokens=1_000)
    a_session.generate("tea", replace(REQUEST, max_tokens=1_000), 0)
    a_session.generate("tea", replace(REQUEST, max_tokens=16_000), 0)
    assert judge(a_session).parsed is not None
    assert model.limits == [35.0, 335.0, 35.0]
    fixed, model, _ = session(tmp_path / "fixed", "tea", timeout_s=7.0)
    fixed.generate("tea", replace(REQUEST, max_tokens=16_000), 0)
    assert model.limits == [7.0]


HOSTILE: dict[str, list[Any]] = {
    "text": [None, 5, ["tea"], {"text": "tea"}],
    "cost": [10**400, -1, "1", None, [1], 1e308],
    "usage": [{"input_tokens": 10**400, "output_tokens": 1}, [1], "x", {}],
    "stop_reason": [{}, [1], 5, None],
    "fake": ["yes", 1, None],
}


@for_each(
    ("field", "value"), [(field, value) for field, values in HOSTILE.items() for value in values]
)
def test_an_entry_that_is_none_is_made_again(field: str, value: object, tmp_path: Path) -> None:
    session(tmp_path, "tea")[0].generate("tea", REQUEST, 0)
    path = change(tmp_path, **{field: value})
    a_session, model, warned = session(tmp_path, "new")
    assert a_session.generate("tea", REQUEST, 0).text == "new"
    assert model.requests == 1
    assert len(warned) == 1
    assert path.name in warned[0]


FIRST, SECOND = VERDICT["criteria"]
TAMPERED: list[object] = [
    "A",
    [],
    {},
    {"criteria": []},
    {**VERDICT, "overall_winner": "C"},
    {**VERDICT, "criteria": [FIRST]},
    {**VERDICT, "criteria": [FIRST, SECOND, FIRST]},
    {**VERDICT, "criteria": [{**FIRST, "score_a": 10**400}, SECOND]},
    {**VERDICT, "criteria": [{**FIRST, "score_a": True}, SECOND]},
    {**VERDICT, "criteria": [{**FIRST, "reasoning": 1}, SECOND]},
]


@for_each("parsed", TAMPERED, ids=range(len(TAMPERED)))
def test_a_tampered_judgement_is_made_again(parsed: object, tmp_path: Path) -> None:
    judge(session(tmp_path, json.dumps(VERDICT))[0])
    path = change(tmp_path, parsed=parsed)
    a_session, model, warned = session(tmp_path, json.dumps(VERDICT))
    assert judge(a_session).parsed == VERDICT
    assert model.requests == 1
    assert len(warned) == 1
    assert path.name in warned[0]
    offline, _, warned = session(tmp_path, replay=True)
    assert judge(offline).parsed == VERDICT
    change(tmp_path, parsed=parsed)
    offline, _, warned = session(tmp_path, replay=True)
    missing = judge(offline)
    assert (missing.fault["kind"], missing.parsed, len(warned)) == ("missing", None, 1)


def test_a_judgement_that_failed_is_asked_for_again_in_another_run(tmp_path: Path) -> None:
    first, model, _ = session(tmp_path, "prose", judge_retries=0)
    assert judge(first).fault["message"].startswith("no_json")
    assert judge(first).fault
    assert model.requests == 1, "not in this one"
    resumed, model, _ = session(tmp_path, resume="r")
    assert judge(resumed).fault["raw"] == "prose"
    assert model.requests == 0
    other, model, warned = session(tmp_path, json.dumps(VERDICT))
    assert judge(other).parsed == VERDICT
    assert (model.requests, warned) == (1, [])
