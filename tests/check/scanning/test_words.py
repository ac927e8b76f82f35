"""The kernel finds the words of patterns where the Python beside it finds them."""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.check.scanning import RULES, scan_files, words
from skillyard.engine.index import kernel
from tests.check.scanning.bad_skills import bad_skills
from tests.kernel_needed import ABSENT, MAY_SKIP, without_kernel

needs_kernel = pytest.mark.skipif(MAY_SKIP, reason=ABSENT)
KERNEL: Any = kernel.KERNEL
_SOME = sorted({word for rule in RULES for each in rule.patterns for word in each.words})[::9]
_PIECES = st.sampled_from(
    [*" \t\n.,_/é密Ω😀i", "i g n o r e", "x1" * 12, *" ".join(_SOME).replace("~", "").split()]
)


@needs_kernel
@given(st.lists(_PIECES, max_size=80).map("".join), st.sampled_from([1, 2, 4]))
def test_the_kernel_finds_the_same_places(text: str, kind: int) -> None:
    text = text.lower()
    with pytest.MonkeyPatch.context() as patch:
        native = words.places_in(text, kind, text)
        without_kernel(patch)
        python = words.places_in(text, kind, text)
    assert native._replace(may_be_spaced=True) == python


@needs_kernel
def test_the_findings_are_the_same_without_the_kernel() -> None:
    skills = bad_skills()
    native = [scan_files(skill.files) for skill in skills]
    with pytest.MonkeyPatch.context() as patch:
        without_kernel(patch)
        assert [scan_files(skill.files) for skill in skills] == native


def _words(
    listed: tuple[bytes, ...] = (b"a", b"b"),
    groups: int = 2,
    starts: tuple[int, ...] = (0, 1, 2),
    members: tuple[int, ...] = (0, 1),
    patterns: tuple[int, ...] = (1, 9, 2, 0, ~1),
) -> Any:
    return KERNEL.Words(
        [*listed], groups, array("i", starts), array("i", members), array("i", patterns)
    )


@needs_kernel
@pytest.mark.parametrize(
    "tables",
    [
        {"listed": (b"a",)},
        {"listed": (b"a", b"a")},
        {"groups": -1},
        {"groups": 1},
        {"groups": 2**31},
        {"starts": (0, 2, 1)},
        {"starts": (0, 1, 3)},
        {"members": (0, 2)},
        {"members": (0, -1)},
        {"patterns": (1, 9, 3, 0, 1)},
        {"patterns": (1, 9)},
        {"patterns": (1, -1, 1, 0)},
        {"patterns": (1, 9, -1)},
        {"patterns": (1, 9, 1, 2)},
        {"patterns": (1, 9, 1, ~2)},
    ],
    ids=repr,
)
def test_the_kernel_refuses_tables_that_do_not_fit(tables: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"fit each other|stands twice"):
        _words(**tables)
