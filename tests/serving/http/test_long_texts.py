"""An answer with its long texts written apart is the answer that the plain encoder writes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillyard.serving.http.long_texts import LONG, LongTexts
from skillyard.serving.runtime.encoding import json_bytes

CONTROLS = "".join(map(chr, range(0x20))) + '\x7f\u2028\\"/'
PIECES = st.text(st.characters(codec=None)) | st.sampled_from(
    (CONTROLS, "\\", '"', "\\n", "\n", "\ud800", "\U0001f600", "</script>", "é")
)
TEXTS = st.builds(
    lambda pieces, long: "".join(pieces) + "x" * (LONG if long else 0),
    st.lists(PIECES, max_size=8),
    st.booleans(),
)


@given(st.lists(st.none() | TEXTS, max_size=6), st.floats())
def test_the_bytes_are_those_of_the_plain_encoder(given: list[str | None], number: float) -> None:
    long = LongTexts()
    plain = {"score": number, "skills": [{"content": text, "after": "\n"} for text in given]}
    marked = {
        "score": number,
        "skills": [{"content": long.put(text), "after": "\n"} for text in given],
    }
    assert long.json_bytes(marked) == json_bytes(plain)


def test_only_long_texts_are_written_apart() -> None:
    long = LongTexts()
    assert long.put(None) is None
    assert long.put("x" * (LONG - 1)) == "x" * (LONG - 1)
    assert long.put("x" * LONG) != "x" * LONG


def test_two_answers_have_marks_of_their_own() -> None:
    assert LongTexts().put("x" * LONG) != LongTexts().put("x" * LONG)
