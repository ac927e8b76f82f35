"""Paths are ordered as JavaScript's localeCompare orders them: hashes depend on it."""

from __future__ import annotations

import json
import random
import subprocess
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.remote.install.collation import ASCII_ORDER, compare_key
from tests.remote.install.asking_node import NODE, Questions, ask, fresh, needs_node, stored
from tests.shared_data import REPOSITORY
from tests.tables import for_each

TABLE = "src/skillyard/remote/install/data/collation.json"

# Ideographs outside the basic block are the documented exception.
_RARE_HAN = [(0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x20000, 0x3347F)]


def sign(left: str, right: str) -> int:
    first, second = compare_key(left), compare_key(right)
    return (first > second) - (first < second)


def wrong(asked: Questions, answers: Questions) -> list[tuple[str, str, int]]:
    both = zip(asked["compare"], answers["compare"], strict=True)
    return [(left, right, said) for (left, right), said in both if sign(left, right) != said]


def test_every_stored_pair_compares_as_in_node() -> None:
    asked, answers = stored()
    assert len(asked["compare"]) > 4_000
    assert wrong(asked, answers) == []


def test_the_stored_pairs_have_all_three_answers_often() -> None:
    answers = stored()[1]["compare"]
    assert min(answers.count(-1), answers.count(1)) > 1_000
    assert answers.count(0) > 5


@needs_node
def test_fresh_pairs_compare_as_in_node() -> None:
    assert wrong(*fresh()) == []


def icu_of_node() -> str:
    assert NODE is not None
    done = subprocess.run(
        [NODE, "-p", "process.versions.icu"], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.strip()


@needs_node
def test_single_characters_of_all_scripts_compare_as_in_node() -> None:
    table = json.loads((REPOSITORY / TABLE).read_text(encoding="utf-8"))
    if icu_of_node() != table["icu"]:
        pytest.skip("node has another version of ICU, which orders rare characters otherwise")
    seed = random.Random(3)
    known = [
        chr(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) not in ("Cn", "Cs")
        and not any(start <= code <= end for start, end in _RARE_HAN)
    ]
    pairs = [(seed.choice(known), seed.choice(known)) for _ in range(10_000)]
    asked: Questions = {"compare": pairs, "hash": [], "stringify": [], "lock": []}
    # The forms whose order is documented as another are too rare for pairs drawn at random.
    assert len(wrong(asked, ask(asked))) <= 2


@for_each(
    ("texts", "why"),
    [
        (["_", "-", ",", ".", "/", "1", "a"], "punctuation, then digits, then letters"),
        (["a", "A", "b", "B"], "case comes after the letters"),
        (["e", "E", "é", "É", "f"], "accents come after the letters and before case"),
        (["references/a.md", "SKILL.md"], "the example of the specification"),
        (["_x", "1", "a", "Z"], "not the order of code points"),
        (["a", "ab", "b"], "the shorter of two equal beginnings is first"),
        (["z", "я", "ا", "あ", "中"], "scripts in ICU's order"),
    ],
)
def test_the_order_is_icus(texts: list[str], why: str) -> None:
    backwards = texts[::-1]
    assert sorted(backwards, key=compare_key) == texts, why


def test_every_printable_character_of_ascii_has_a_place() -> None:
    printable = {chr(code).lower() for code in range(32, 127)}
    assert printable <= set(ASCII_ORDER)
    assert len(set(ASCII_ORDER)) == len(ASCII_ORDER)


@for_each(
    ("left", "right"),
    [("é", "e\u0301"), ("a\x00", "a"), ("", "\u200b"), ("각", "\u1100\u1161\u11a8")],
)
def test_texts_that_mean_the_same_have_one_key(left: str, right: str) -> None:
    assert compare_key(left) == compare_key(right)


@given(st.text(max_size=8), st.text(max_size=8))
def test_a_text_with_more_at_its_end_never_comes_before(text: str, more: str) -> None:
    # Joined parts may become one letter; a line feed between them keeps them apart.
    assert compare_key(f"{text}\n") <= compare_key(f"{text}\n{more}")


@given(st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C", "Cs"]), max_size=20))
def test_any_text_has_a_key_that_compares_with_ascii(text: str) -> None:
    key = compare_key(text)
    assert key == compare_key(text)
    assert (key < compare_key("m")) or (key >= compare_key("m"))


@given(st.text(st.characters(max_codepoint=127), max_size=20))
def test_ascii_has_one_key_whether_or_not_it_stands_alone(text: str) -> None:
    # A word joiner counts nothing, but makes the text take the way that all Unicode takes.
    assert compare_key(text) == compare_key(f"{text}\u2060")
