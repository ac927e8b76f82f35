"""The C kernel takes texts apart into the terms of the analyzer, whatever stands in them."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.analysis import STANDARD
from skillyard.engine.analysis.vocabulary import TECHNICAL
from skillyard.engine.index import kernel, term_counts
from tests.kernel_needed import ABSENT, MAY_SKIP
from tests.property.strategies import many
from tests.shared_data import MISSING, shared_folder
from tests.tables import for_each

pytestmark = pytest.mark.skipif(MAY_SKIP, reason=ABSENT)
KERNEL: Any = kernel.KERNEL

_PARTS = [
    *("deploy", "Deploying", "HTTPServer", "HTTP", "iOS", "S3", "python3", "config2", "4k", "3dxy"),
    *("a", "B", "xY", "42", "12345", "the", "isn", "don", "t", "s", "n", "N", "T", "S", "c", "C"),
    *("部署", "服務", "コンテナ", "が", "ー", "서비스", "한", "é", "Straße", "ŁÓDŹ", "Ж", "ﬁ", "②"),
    *(
        "ｆｕｌｌ",
        "\u3099",
        "\u0301",
        "\u1161",
        "\u11a8",
        "\u212a8s",
        "İ",
        "ſ",
        "\ufe0f",
        "👍",
        "٣",
    ),
    *("-", "_", ".", "'", "’", "+", "++", "#", "/", " ", "  ", "\n", "\0", "\ud800", "\udfff"),
    *("'s", "n't", "’s", "\u200b", "~", "[", "`", "@", "\x7f", "x" * 41, "9" * 41, "Ab" * 33),
    *TECHNICAL,
]
_TEXTS = st.one_of(
    st.lists(st.sampled_from(_PARTS), max_size=12).map("".join),
    st.lists(st.sampled_from(_PARTS), max_size=12).map(" ".join),
    st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=40),
    st.text(alphabet="aAbB1.-_'’+# 部がハ한", max_size=30),
)


def terms(
    chain: Callable[[str], Any] = STANDARD.filter_surface,
    stem: Callable[[str], Any] = str,
    page: Callable[[int], Any] = term_counts._word_page,
    *,
    most: int = 100,
) -> Any:
    words = ({"k8s": "kubernetes"}, ("the",))
    return KERNEL.Terms(chain, stem, page, *words, 40, 3, 4, most, bytes(16))


@many
@given(st.lists(_TEXTS, max_size=4))
def test_counts_and_their_order_are_those_of_the_analyzer(texts: list[str]) -> None:
    small = term_counts.kernel_terms(3)  # it forgets all the time
    for text in texts:
        expected = list(STANDARD.counts(text).items())
        assert list(term_counts.term_counts(text).items()) == expected
        assert list(small.counts(text).items()) == expected


def test_bodies_of_the_corpus_have_the_same_terms() -> None:
    shared = shared_folder()
    if shared is None or not (shared / "corpus" / "skills.jsonl.gz").is_file():
        pytest.skip(MISSING)
    import gzip

    with gzip.open(shared / "corpus" / "skills.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in islice(lines, 0, None, 80):
            text = json.loads(line)["text"]
            expected = list(STANDARD.counts(text).items())
            assert list(term_counts.term_counts(text).items()) == expected


_EDGES = (0x3041, 0x3096, 0x30A1, 0x30FA, 0x30FC, 0x3400, 0x4DBF, 0x4E00, 0x9FFF, 0xAC00, 0xD7A3)
"""Where the characters begin and end that the kernel takes apart itself."""


def test_characters_of_every_block_are_taken_alike_alone_and_in_words() -> None:
    codes = [code + near for code in _EDGES for near in (-2, -1, 0, 1, 2)]
    codes += [*range(0x600), *range(0x600, sys.maxunicode + 1, 97)]
    for number, code in enumerate(codes):
        text = f"{chr(code)} x{chr(code)}部{chr(codes[number - 1])}"
        assert term_counts.term_counts(text) == STANDARD.counts(text)


def test_many_threads_count_the_same() -> None:
    texts = [f"déploiement{n} running-tests {n} 部署{n} ΔΟΚΙΜΗ{n}" * 20 for n in range(60)]
    expected = [STANDARD.counts(text) for text in texts]
    small = term_counts.kernel_terms(5)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(small.counts, texts)) == expected


def test_a_step_in_python_may_count_again() -> None:
    def chain(surface: str) -> tuple[str, ...]:
        gc.collect()
        if len(surface) > 2:
            inner.counts(" ".join(f"{char} é{char}" for char in surface))
        return (surface,)

    inner = terms(chain, most=2)
    assert inner.counts("éins zwei ünter drei") == {"éins": 1, "zwei": 1, "ünter": 1, "drei": 1}


def _raising(error: Exception) -> Callable[[object], Any]:
    def step(_: object) -> Any:
        raise error

    return step


@for_each(
    ("steps", "error"),
    [
        ({"chain": _raising(KeyError("x"))}, KeyError),
        ({"chain": lambda _: ["é"]}, TypeError),
        ({"chain": lambda _: ("é", 1)}, TypeError),
        ({"stem": _raising(KeyError("x"))}, KeyError),
        ({"stem": lambda _: 1}, TypeError),
        ({"page": _raising(KeyError("x"))}, KeyError),
        ({"page": lambda _: b"short"}, ValueError),
        ({"page": lambda _: "x" * 32}, TypeError),
    ],
)
def test_a_step_that_fails_ends_the_count_and_not_the_next(
    steps: dict[str, Any], error: type[Exception]
) -> None:
    broken = terms(**steps)
    for _ in range(2):
        with pytest.raises(error):
            broken.counts("a deploying é")
    assert broken.counts("a 42 a") == {"a": 2, "42": 1}


@for_each(
    "arguments",
    [
        (str, str, str, {"é": "e"}, (), 40, 3, 4, 9, bytes(16)),
        (str, str, str, {"a": ""}, (), 40, 3, 4, 9, bytes(16)),
        (str, str, str, {}, ("x" * 41,), 40, 3, 4, 9, bytes(16)),
        (str, str, str, {}, (), 0, 3, 4, 9, bytes(16)),
        (str, str, str, {}, (), 65, 3, 4, 9, bytes(16)),
        (str, str, str, {}, (), 40, 3, 4, 0, bytes(16)),
        (str, str, str, {}, (), 40, 3, 4, 9, b"seed"),
        (str, str, str, [], (), 40, 3, 4, 9, bytes(16)),
    ],
)
def test_tables_that_do_not_fit_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises((ValueError, TypeError)):
        KERNEL.Terms(*arguments)


def test_only_text_is_counted() -> None:
    with pytest.raises(TypeError):
        term_counts.kernel_terms().counts(b"deploy")
