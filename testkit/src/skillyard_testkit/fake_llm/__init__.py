"""A stand-in for model providers, on this machine: two APIs, faults on demand, made-up replies.

``FakeLlm`` is the server, ``faults`` the ways to fail, ``behaviours`` the ways to judge. All of its
answers carry the header ``x-skillyard-backend: fake``: they say nothing about any model or skill.
``python -m skillyard.standin.fake_llm`` runs it as a process of its own.
"""

from skillyard.standin.fake_llm import faults
from skillyard.standin.fake_llm.judging import BEHAVIOURS
from skillyard.standin.fake_llm.record import Record, Seen
from skillyard.standin.fake_llm.server import FakeLlm

__all__ = ["BEHAVIOURS", "FakeLlm", "Record", "Seen", "faults"]
