"""A fake server for model APIs: Anthropic's and OpenAI's, with faults and generated replies.

``FakeLlm`` is the server, ``faults`` are the ways in which it can fail, ``BEHAVIOURS`` the rules by
which it judges. Every response has the header ``x-skillyard-backend: fake``: no reply says anything
about a model or a skill. ``python -m skillyard_testkit.fake_llm`` runs it as a process of its own.
"""

from skillyard_testkit.fake_llm import faults
from skillyard_testkit.fake_llm.call_log import CallLog, LoggedCall
from skillyard_testkit.fake_llm.judge import BEHAVIOURS
from skillyard_testkit.fake_llm.server import FakeLlm

__all__ = ["BEHAVIOURS", "CallLog", "FakeLlm", "LoggedCall", "faults"]
