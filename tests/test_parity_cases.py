"""The conformance cases in ``tests/parity/cases`` equal the published ones, byte for byte."""

from __future__ import annotations

from pathlib import Path

from tests.shared_data import CASES


def test_the_cases_equal_the_published_ones(shared: Path) -> None:
    names = {path.name for path in CASES.glob("*.*")}
    published = {path.name for path in (shared / "cases").glob("*.json")}
    assert names == published | {"confidence_check.py"}
    ours = {name: (CASES / name).read_bytes() for name in names}
    assert ours == {name: (shared / "cases" / name).read_bytes() for name in names}
