"""What a router that is a model is shown, and what is made of its reply."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from skillyard import Catalog, Skill
from skillyard.evals.layers.activation import DESCRIPTION_CHARS, ActivationRunner, index_text
from skillyard.evals.layers.session import ModelSession
from skillyard.evals.layers.work import LayerWork
from skillyard.evals.models.calls import ModelReply, ModelRequest, TokenUsage
from skillyard.evals.settings import RunSettings
from skillyard.evals.storage import Entries
from tests.tables import for_each


def skill(name: str, description: str = "Does it.") -> Skill:
    return Skill(name, description, "body")


class Model:
    """A model that says what it was told to, and remembers what it was asked."""

    provider, host = "anthropic", "test"

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.requests: list[ModelRequest] = []

    def parameters(self, request: ModelRequest) -> dict[str, object]:
        return {"max_tokens": request.max_tokens}

    def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        self.requests.append(request)
        return ModelReply(self.replies.pop(0), "end", TokenUsage(100, 10))


def router(
    tmp_path: Path, *replies: str, names: tuple[str, ...] = ("a", "b", "c")
) -> tuple[ActivationRunner, Model]:
    model = Model(*replies)
    settings = RunSettings(eval_type="activation", router="model", model="m")
    entries = Entries(str(tmp_path))
    session = ModelSession(model, entries, settings)
    catalog = Catalog.from_skills([skill(name) for name in names])
    return ActivationRunner(LayerWork(settings, catalog, (), "", {}), session), model


def test_the_index_is_sorted_folded_and_cut() -> None:
    long = "x" * (DESCRIPTION_CHARS + 1)
    text = index_text(
        [skill("b", long), skill("a", "one\ntwo\r\nthree\u2028four"), skill("c", "y" * 120)]
    )
    lines = text.split("\n")
    assert lines[0] == "- a: one two three four"
    assert lines[1] == f"- b: {'x' * 117}..."
    assert lines[2] == f"- c: {'y' * 120}"


@given(description=st.text(max_size=300))
def test_a_description_cannot_forge_a_line(description: str) -> None:
    text = index_text([skill("a", f"x{description}x"), skill("b")])
    assert len(text.splitlines()) == 2
    assert all(len(line) <= len("- a: ") + DESCRIPTION_CHARS for line in text.splitlines())


@for_each(
    ("replies", "picked", "dropped"),
    [
        ('{"skills": ["b", "a"], "reasoning": "r"}', ("b", "a"), ()),
        ('Sure!\n```json\n{"skills": ["a"]}\n```', ("a",), ()),
        ('{"skills": [" a ", "a", "zzz", "zzz", ""]}', ("a",), ("zzz", "")),
        ('{"skills": []}', (), ()),
    ],
)
def test_a_reply_is_read(
    replies: str, picked: tuple[str, ...], dropped: tuple[str, ...], tmp_path: Path
) -> None:
    requests, model = router(tmp_path, replies)
    result = requests.choose("p", 0)
    assert (result["picked"], result["dropped"]) == ([*picked], [*dropped])
    assert "errors" not in result
    assert len(model.requests) == 1
    assert result["input_tokens"] == 100


@for_each(
    "replies",
    ["a, I think", '{"skills": "a"}', '{"skills": [1]}', '{"skills": null}', '["a"]', "{}",
     '{"skills": ["a"', '{"picks": ["a"]}'],
)  # fmt: skip
def test_a_reply_that_cannot_be_read_is_an_error(replies: str, tmp_path: Path) -> None:
    requests, model = router(tmp_path, replies)
    result = requests.choose("p", 0)
    assert [error["kind"] for error in result["errors"]] == ["unreadable"]
    assert "picked" not in result
    assert len(model.requests) == 1
