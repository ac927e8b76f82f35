"""Every case of ``spec_validation.json`` under the ``reference`` profile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import skillyard as sy
from tests.parity.rows import EXPECTED, Case, Ruling, load, readings, rows, stale
from tests.requirements import requirement
from tests.tables import for_each

SUITE = "spec_validation"
Register = Callable[[str, str, bool], None]

REFERENCE = Ruling(EXPECTED, "validation: `reference` gives the reference validator's verdicts")
RULINGS = dict.fromkeys(
    (
        "spec-010",
        "spec-037",
        "spec-042",
        "spec-044",
        "spec-045",
        "spec-078",
        "spec-082",
        "spec-092",
        "spec-093",
        "spec-095",
        "spec-119",
        "spec-124",
        "spec-129",
        "spec-131",
        "spec-134",
    ),
    REFERENCE,
)


def written(case: Case, root: Path) -> Path:
    folder: Path = root / case["directory"]
    folder.mkdir()
    if case["file"] is not None:
        (folder / case["file"]).write_bytes(case["content"].encode("utf-8"))
    return folder


def agrees(verdict: dict[str, Any], codes: set[str]) -> bool:
    """True when the error codes found are a verdict that the case accepts."""
    if verdict["valid"]:
        return not codes
    return bool(codes & {*verdict["rules"], *verdict.get("rules_also_accepted", ())})


@requirement("validate:reference:parity")
@for_each("case", rows(SUITE))
def test_the_reference_profile_gives_the_documented_verdict(
    case: Case, parity: Register, tmp_path: Path
) -> None:
    parity(SUITE, case["id"], case.get("ambiguous", False))
    found = sy.validate(written(case, tmp_path), profile="reference")
    codes = {diagnostic.code for diagnostic in found if diagnostic.severity == "error"}
    accepted = readings(case, RULINGS)
    assert any(agrees(verdict, codes) for verdict in accepted), (sorted(codes), accepted)


@requirement("validate:profiles:diagnostics")
@for_each("case", rows(SUITE))
def test_every_profile_answers_with_complete_diagnostics(case: Case, tmp_path: Path) -> None:
    folder = written(case, tmp_path)
    for profile in ("lenient", "spec", "reference"):
        for found in sy.validate(folder, profile=profile):
            assert all((found.code, found.message, found.path))
            assert found.severity in {"error", "warning", "info"}


def test_every_ruling_names_an_open_case() -> None:
    assert stale(RULINGS, [load(SUITE)]) == []
    open_ids = {case["id"] for case in load(SUITE) if case.get("ambiguous")}
    assert open_ids == set(RULINGS)
