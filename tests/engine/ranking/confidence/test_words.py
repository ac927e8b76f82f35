"""Text to terms: what counts as a word, and which words are one."""

from __future__ import annotations

from skillyard.engine.ranking.confidence.keywords import terms
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
