"""``sy.evals``: a room with names of its own, loaded when one is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import skillyard as sy
from tests.shared_data import PACKAGES
from tests.tables import for_each


@for_each("name", ["extract_json", "extract_summary", "invoke_judge", "remap"])
def test_the_names_of_the_contract_are_there(name: str) -> None:
    assert getattr(sy.evals, name).__name__ == name
    assert name in sy.evals.__all__


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sy.evals.nothing  # noqa: B018 - looking it up is the test


def test_the_room_loads_with_its_first_name_and_brings_no_other_library() -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import skillyard as sy\n"
        "assert 'skillyard.evals' not in sys.modules\n"
        "assert sy.evals.extract_json('{}') == {}\n"
        "assert 'skillyard.evals.judgement.judge' not in sys.modules\n"
        "sy.evals.invoke_judge\n"
        "print(sorted({'anthropic', 'openai', 'scipy', 'genai_prices'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, str(PACKAGES)],
        capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
