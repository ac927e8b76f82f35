"""Text to terms: what counts as a word, and which words are one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.ranking.confidence.keywords import STOP_WORDS, terms
from tests.requirements import requirement
from tests.tables import for_each


def shown(text: str, *short: str) -> list[str]:
    return [term.surface for term in terms(text, frozenset(short))]


@requirement("confidence:preprocessing")
@for_each(
    ("text", "words"),
    [
        ("Deploy, DEPLOY!", ["deploy", "deploy"]),
        ("user-profile_page", ["user", "profile", "page"]),
        ("fix the test for me", ["fix", "test"]),
        ("go ui fix", ["fix"]),
        ("2024 v12 a11y 42", ["v12", "a11y"]),
        ("src/auth/login.ts", ["src", "auth", "login"]),
        ("don't touch the skill's name", ["touch", "skills", "name"]),
        ("l’école d'été", ["lécole", "dété"]),
        ("Тестирование сервиса", ["тестирование", "сервиса"]),
        ("cafe\u0301 re\u0301sume\u0301", ["café", "résumé"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("", []),
        ("' ’ -- _", []),
    ],
)
def test_a_text_is_read_as_the_document_says(text: str, words: list[str]) -> None:
    assert shown(text) == words


@requirement("confidence:preprocessing")
@for_each(
    ("word", "parts"),
    [
        ("getUserProfile", ["user", "profile", "getuserprofile"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("parseXMLFile", ["parse", "xml", "file", "parsexmlfile"]),
        ("oauth2Login", ["oauth2", "login", "oauth2login"]),
        ("GraphQL", ["graph", "graphql"]),
        ("iOS", ["ios"]),
        ("PROFILE", ["profile"]),
        ("Profile", ["profile"]),
    ],
)
def test_inner_capitals_split_a_word_that_also_counts_whole(word: str, parts: list[str]) -> None:
    assert shown(word) == parts


def test_only_the_whole_form_of_a_split_word_is_marked_as_such() -> None:
    assert [term.whole for term in terms("GraphQL iOS plain")] == [False, True, False, False]


@requirement("confidence:preprocessing")
@for_each(
    "family",
    [
        "deploy deploys deployed deploying",
        "query queries querying",
        "run runs running",
        "cache caches cached caching",
        "code codes coding",
        "study studies studied",
    ],
)
def test_forms_of_a_word_have_one_stem(family: str) -> None:
    assert len({term.stem for term in terms(family)}) == 1


@requirement("confidence:preprocessing")
def test_named_short_words_count() -> None:
    assert shown("Go UI db", "ui", "go") == ["go", "ui"]


def test_the_stop_list_has_no_word_that_is_dropped_anyway() -> None:
    assert all(len(word) >= 3 and word == word.lower() for word in STOP_WORDS)


@given(st.text(max_size=200))
def test_terms_are_small_letters_without_stop_words(text: str) -> None:
    for term in terms(text):
        assert term.surface not in STOP_WORDS
        assert term.surface == term.surface.lower()
        assert len(term.surface) >= 3


@given(st.lists(st.text(alphabet="abcXYZ9_- .", max_size=30), max_size=4))
def test_a_text_has_the_terms_of_its_lines(lines: list[str]) -> None:
    joined = terms("\n".join(lines))
    assert joined == [term for line in lines for term in terms(line)]


def test_a_word_of_any_length_is_read() -> None:
    assert shown("x" * 100_000 + " deploy") == ["x" * 100_000, "deploy"]
