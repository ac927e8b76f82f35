"""The C kernel takes texts apart into the terms of the analyzer, whatever stands in them."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.analysis import STANDARD
from skillyard.engine.analysis.analyzer import TECHNICAL
from skillyard.engine.index import document_builder, kernel
from tests.kernel_needed import ABSENT, MAY_SKIP
from tests.property.strategies import many

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


@many
@given(st.lists(_TEXTS, max_size=4))
def test_counts_and_their_order_are_those_of_the_analyzer(texts: list[str]) -> None:
    small = document_builder.kernel_terms(3)  # it forgets all the time
    for text in texts:
        expected = list(STANDARD.counts(text).items())
        assert list(document_builder.term_counts(text).items()) == expected
        assert list(small.counts(text).items()) == expected


_EDGES = (0x3041, 0x3096, 0x30A1, 0x30FA, 0x30FC, 0x3400, 0x4DBF, 0x4E00, 0x9FFF, 0xAC00, 0xD7A3)
"""Where the characters begin and end that the kernel takes apart itself."""


def test_characters_of_every_block_are_taken_alike_alone_and_in_words() -> None:
    codes = [code + near for code in _EDGES for near in (-2, -1, 0, 1, 2)]
    codes += [*range(0x600), *range(0x600, sys.maxunicode + 1, 97)]
    for number, code in enumerate(codes):
        text = f"{chr(code)} x{chr(code)}部{chr(codes[number - 1])}"
        assert document_builder.term_counts(text) == STANDARD.counts(text)
