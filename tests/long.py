"""The folders and files that ``make test`` leaves to ``make test-all``: they take minutes.

They kill processes, start clusters, feed hostile or random input for long, or simulate studies.
Each stands beside quick tests of the same code. Single long tests elsewhere are marked ``slow``.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["LONG"]

_TESTS = Path(__file__).parent

LONG = frozenset(
    _TESTS / path
    for path in (
        "deploy",
        "evals/end_to_end",
        "evals/models/test_measured_behaviour.py",
        "evals/statistics/test_simulations.py",
        "hostile",
        "store/test_publish_processes.py",
        "store/cluster",
    )
)
