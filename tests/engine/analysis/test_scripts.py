"""The share of Latin letters, as it would be counted letter by letter."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.analysis.language import _class, latin_share
from tests.tables import for_each


@given(st.text() | st.text(alphabet="aÀßɐẞﬁﬓяЖ中カ가ก 1²Ⅷ_.-—"))
def test_the_share_is_that_of_the_letters_one_by_one(text: str) -> None:
    letters = [char for char in text if char.isalpha()]
    latin = [char for char in letters if char.isascii() or _class(char) == "latin"]
    assert latin_share(text) == (len(latin) / len(letters) if letters else 1.0)


@for_each(
    ("text", "share"),
    [("", 1.0), ("42 —", 1.0), ("naïve – ﬁn", 1.0), ("git 提交", 0.6), ("да", 0.0)],
)
def test_only_letters_count(text: str, share: float) -> None:
    assert latin_share(text) == share
