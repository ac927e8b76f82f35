"""The chain: one for skills and requests, for every text there is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.analysis import STANDARD
from skillyard.engine.analysis.analyzer import MAX_TERM_CHARS
from tests.tables import for_each

TEXTS = st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=80)


@for_each(
    ("text", "terms"),
    [
        ("How do I deploy the Next.js app?", ["deploy", "nextj", "applic"]),
        ("C++ / C# / .NET / S3", ["c++", "c#", "dotnet", "s3"]),
        ("fastapi-templates", ["fastapi", "templat", "fastapitempl"]),
        ("Dockerの代わり", ["docker", "の代", "代わ", "わり"]),
        ("ＤＥＰＬＯＹ déployé", ["deploy", "deploy"]),
        ("please help me with this", []),
    ],
)
def test_texts_become_terms(text: str, terms: list[str]) -> None:
    assert STANDARD.terms(text) == terms


@given(TEXTS)
def test_any_text_becomes_short_lower_case_terms_the_same_each_time(text: str) -> None:
    terms = STANDARD.terms(text)
    assert terms == STANDARD.terms(text)
    assert all(0 < len(term) <= MAX_TERM_CHARS for term in terms)
    assert all(term == term.lower() for term in terms if term.isascii())
    assert STANDARD.terms(text.upper().upper()) == STANDARD.terms(text.upper())


@given(TEXTS)
def test_counts_are_the_terms_counted(text: str) -> None:
    terms = STANDARD.terms(text)
    assert STANDARD.counts(text) == {term: terms.count(term) for term in terms}
