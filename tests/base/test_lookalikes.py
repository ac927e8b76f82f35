"""Names that may be taken for known ones: every squat is said, and honest names nearly never."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.base.lookalikes import FOLDED_CHARS, look_alike_pairs, look_alikes, skeleton
from tests.property.strategies import many
from tests.tables import for_each

NAMES = (
    "excel", "word-docs", "pdf-forms", "clawhub", "brainstorming", "code-review", "skill-creator",
    "frontend-design", "systematic-debugging", "test-driven-development", "mcp-builder",
    "webapp-testing", "web-search", "agent-browser", "terraform-module-library",
    "api-design-principles", "git-commit", "sql_optimizer", "vercel.deploy", "k8s-manifests",
)  # fmt: skip

_DIGITS = {"o": "0", "l": "1", "i": "1", "s": "5", "e": "3", "a": "4", "t": "7", "b": "8"}
_CYRILLIC = dict(zip("aeocpxyskmt", "аеосрхуѕкмт", strict=True))
_SEPARATORS = ("-", "_", ".", "")


def _left_out(name: str) -> Iterator[str]:
    for at, char in enumerate(name):
        if char.isalnum():
            yield name[:at] + name[at + 1 :]


def _put_in(name: str) -> Iterator[str]:
    for at in range(len(name), 0, -1):
        yield from (name[:at] + extra + name[at:] for extra in (name[at - 1], "1", "x"))


def _changed(name: str) -> Iterator[str]:
    for at, char in enumerate(name):
        if char.isalnum():
            yield name[:at] + ("q" if char != "q" else "p") + name[at + 1 :]


def _swapped(name: str) -> Iterator[str]:
    for at in range(len(name) - 1):
        yield name[:at] + name[at + 1] + name[at] + name[at + 2 :]


def _separated(name: str) -> Iterator[str]:
    words = name.replace("_", "-").replace(".", "-").split("-")
    for marks in product(_SEPARATORS, repeat=len(words) - 1):
        yield "".join(map("".join, zip(words, [*marks, ""], strict=True)))


def _plural(name: str) -> Iterator[str]:
    yield name + "s"
    yield "-".join(word if word.endswith("s") else word + "s" for word in name.split("-"))
    yield name.removesuffix("s")
    yield name.upper() + "S"


def _with_digits(name: str) -> Iterator[str]:
    for letter in dict.fromkeys(name):
        if letter in _DIGITS:
            yield name.replace(letter, _DIGITS[letter])
    yield "".join(_DIGITS.get(char, char) for char in name)


def _drawn_alike(name: str) -> Iterator[str]:
    for letter in dict.fromkeys(name):
        if letter in _CYRILLIC:
            yield name.replace(letter, _CYRILLIC[letter])
    yield "".join(_CYRILLIC.get(char, char) for char in name)
    yield "".join(chr(ord(char) + 0xFEE0) if char.isalnum() else char for char in name)
    yield name.replace("m", "rn").replace("d", "cl")


RULES: tuple[Callable[[str], Iterator[str]], ...] = (
    _left_out, _put_in, _changed, _swapped, _separated, _plural, _with_digits, _drawn_alike,
)  # fmt: skip


def _squats() -> list[tuple[str, str, str]]:
    """Return 400 (rule, name, squat): of each name 20, the rules in turn."""
    found: list[tuple[str, str, str]] = []
    for name in NAMES:
        taken = {name}
        sources = [(rule.__name__.strip("_"), rule(name)) for rule in RULES]
        while sources and len(taken) <= 20:
            rule, squats = sources.pop(0)
            squat = next((squat for squat in squats if squat not in taken), None)
            if squat is not None:
                sources.append((rule, squats))
                taken.add(squat)
                found.append((rule, name, squat))
    return found


def test_four_hundred_squats_of_twenty_names_by_eight_rules_are_all_said() -> None:
    squats = _squats()
    assert len(squats) == 400
    assert len({(name, squat) for _, name, squat in squats}) == 400
    counts = Counter(rule for rule, _, _ in squats)
    assert len(counts) == len(RULES) == 8
    assert min(counts.values()) >= 20, counts
    missed = [row for row in squats if row[1] not in look_alikes(row[2], NAMES)]
    assert missed == []


@for_each(
    ("name", "known"),
    [
        ("clawhub1", "clawhub"),
        ("cllawhub", "clawhub"),
        ("PDF", "pdf"),
        ("ｐｄｆ", "pdf"),
        ("p\u200bdf", "pdf"),
        ("𝗽𝗱𝗳", "pdf"),
        ("résumé", "resume"),
        ("codereviews", "code-review"),
        ("c0de_rev1ew", "code-review"),
        ("ехсеl", "excel"),
        ("modem-config", "modern-config"),
        ("Agent Browser", "agent-browser"),
        ("libraries", "library"),
        ("docker", "bocker"),
        ("clawhub-6yr3b", "clawhub"),
        ("claw-hub_a1b2", "clawhub"),
    ],
)
def test_known_tricks_are_said(name: str, known: str) -> None:
    assert look_alikes(name, [known, "unrelated-name"]) == (known,)


@for_each(
    ("name", "known"),
    [
        ("pdf", "pdf"),
        ("pdf-tools", "pdf"),
        ("claw", "clawhub"),
        ("clawhub-sha256", "clawhub"),
        ("clawhub-v2", "clawhub"),
        ("clawhub-3d-tools", "clawhub"),
        ("java", "javascript"),
        ("b", "a"),
        ("git", "gist"),
        ("code-preview-x", "code-review"),
        ("", "a"),
        ("-", "_"),
        ("x" * (FOLDED_CHARS + 1), "x" * FOLDED_CHARS),
    ],
)
def test_equal_and_merely_related_names_are_not_said(name: str, known: str) -> None:
    assert look_alikes(name, [known]) == ()


def _within_one(one: str, two: str) -> bool:
    """True at optimal string alignment distance one, by the whole table."""
    rows = [
        [max(i, j) if not i * j else 0 for j in range(len(two) + 1)] for i in range(len(one) + 1)
    ]
    for i, a in enumerate(one, 1):
        for j, b in enumerate(two, 1):
            best = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and b == one[i - 2]:
                best = min(best, rows[i - 2][j - 2] + 1)
            rows[i][j] = best
    return rows[-1][-1] == 1


_WORD = st.text("abc", min_size=1, max_size=6)


@many
@given(_WORD, st.lists(_WORD, max_size=12))
def test_the_index_finds_just_the_names_at_distance_one(name: str, known: list[str]) -> None:
    # Letters without twins and without a plural, so that nothing but the distance decides.
    near = {other for other in known if len(name) > 3 and _within_one(name, other)}
    expected = tuple(sorted(near))
    assert look_alikes(name, known) == (() if name in known else expected)


_NAMES = st.text(alphabet="abcl1-", min_size=1, max_size=7)


@many
@given(st.lists(_NAMES.filter(lambda name: len(name) >= 4 and "1" not in name), max_size=12))
def test_every_name_with_a_neighbour_is_found_and_no_other(names: list[str]) -> None:
    expected = {
        one
        for one in names
        for two in names
        if one != two and (_within_one(one, two) or skeleton(one) == skeleton(two))
    }
    found = look_alike_pairs(names)
    assert set(found) == expected
    assert all(other in names and other != name for name, other in found.items())


def test_many_names_of_one_pattern_cost_a_bounded_number_of_comparisons() -> None:
    names = [
        f"{letter}{other}skill" for letter in map(chr, range(0x4E00, 0x4E80)) for other in "abc"
    ]
    assert len(look_alike_pairs(names)) == len(names)


@pytest.mark.slow
def test_of_the_real_names_under_one_in_a_thousand_is_said(shared: Path) -> None:
    counts: Counter[str] = Counter()
    with gzip.open(shared / "corpus/skills.jsonl.gz", "rt", encoding="utf-8") as lines:
        counts.update(json.loads(line)["name"] for line in lines)
    frequent = sorted(counts, key=lambda name: (-counts[name], name))[:300]
    said = [name for name in sorted(counts) if look_alikes(name, frequent)]
    assert len(counts) > 9_000
    assert len(said) < len(counts) / 1_000, said
