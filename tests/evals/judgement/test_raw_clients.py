"""``invoke_judge`` with the makers' own clients, against the stand-in on loopback."""

from __future__ import annotations

from typing import Any

import pytest

from skillyard.evals.judgement.judge import invoke_judge
from skillyard.evals.judgement.verdicts import DEFAULT_CRITERIA, both_orders, remap
from skillyard_testkit.fake_llm import FakeLlm
from tests.evals.judgement.making import mappings
from tests.tables import for_each

TEXTS = {
    "full": "High water at Dover is at 11:40.\n\n- Check the port's own table.\n- Allow for wind.",
    "baseline": "I cannot know that.",
}
REQUEST = "When is high water at Dover tomorrow, and what should I check?"
MODELS = {"anthropic": "claude-haiku-4-5", "openai": "gpt-4.1-mini"}


def client_of(library: str, fake: FakeLlm) -> Any:
    if library == "anthropic":
        import anthropic

        return anthropic.Anthropic(api_key="sk-test", base_url=fake.url)
    import openai

    return openai.OpenAI(api_key="sk-test", base_url=fake.openai_url)


@pytest.mark.slow
@for_each(("library", "behaviour"), [("anthropic", "slot-b"), ("openai", "honest")])
def test_both_orders_through_a_makers_client(library: str, behaviour: str) -> None:
    """A judge that always prefers slot B wins nothing for anybody; an honest one agrees twice."""
    pytest.importorskip(library)
    orders = []
    with FakeLlm(behaviour=behaviour) as fake, client_of(library, fake) as client:
        for drawn in both_orders(42, "tides", 0, "full", "baseline", 0):
            result = invoke_judge(
                client, REQUEST, TEXTS[drawn.slots["A"]], TEXTS[drawn.slots["B"]],
                DEFAULT_CRITERIA, MODELS[library], max_tokens=1_000,
            )  # fmt: skip
            assert (result["judge_error"], result["attempts"], result["fake"]) == (None, 1, True)
            assert result["usage"]["input_tokens"] > 0
            assert result["sdk"].startswith(library)
            orders.append({"assignment": drawn.slots, "judge": result["parsed"]})
    merged = remap(
        {
            "conditions": ["full", "baseline"],
            "criteria": mappings(DEFAULT_CRITERIA),
            "orders": orders,
        }
    )
    if behaviour == "slot-b":
        assert (merged["winner"], merged["improvement"]) == ("tie", 0.0)
        assert merged["position_consistent"] is False
    else:
        assert merged["position_consistent"] is True
