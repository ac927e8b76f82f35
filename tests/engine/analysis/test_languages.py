"""Requests in other languages: which one it is, and their words in English."""

from __future__ import annotations

from skillyard.engine.analysis.language import FUNCTION_WORDS, language_of, read_request
from tests.tables import for_each


@for_each(
    ("text", "code"),
    [
        ("Wie finde ich den Commit, der den Build kaputt gemacht hat?", "de"),
        ("Comment déployer mon application avec Docker ?", "fr"),
        ("¿Cómo puedo limpiar este archivo CSV?", "es"),
        ("Preciso de ajuda para escrever os testes do meu projeto", "pt"),
        ("Come posso tradurre questo documento?", "it"),
        ("Как найти коммит, который сломал сборку?", "ru"),
        ("Як написати тести для цього модуля і перевірити їх?", "uk"),
        ("コミット履歴からリリースノートを作って", "ja"),
        ("帮我给 Go 代码写单元测试", "zh"),
        ("서울 시내버스 도착 알림", "ko"),
        ("كيف أكتب تقريرا", "ar"),
        ("मुझे एक रिपोर्ट लिखनी है", "hi"),
        ("find the commit that broke the build", "en"),
        ("kubernetes helm chart", "en"),
        ("translate 你好 into English and explain the grammar", "en"),
        ("¿qué skills tienes?", "es"),
        ("bu PDF raporlarındaki tabloları çıkar", "tr"),
        ("update my résumé", "en"),
        ("", "en"),
    ],
)
def test_the_language_of_a_request(text: str, code: str) -> None:
    assert language_of(text) == code


@for_each(
    ("text", "terms"),
    [
        ("Ich möchte einen Bericht schreiben", {"write"}),
        ("Je voudrais écrire un rapport", {"write"}),
        ("我想写一份报告", {"write"}),
    ],
)
def test_words_of_other_languages_become_english_terms(text: str, terms: set[str]) -> None:
    assert terms <= set(read_request(text).english)


@for_each(
    ("text", "english"),
    [
        ("Wie prüfe ich die Rechnung auf Railway?", "check invoice railway?"),
        ("帮我把这个 PDF 表单翻译成英文", "帮我把这个 pdf form translate 成 english"),
        ("цепочки для проверки", "цепочки check"),  # "очки для" is a form, but no word begins here
        ("find the invoice", "find the invoice"),
    ],
)
def test_a_request_is_put_into_english_word_by_word(text: str, english: str) -> None:
    assert read_request(text).rough == english


def test_a_word_that_small_letters_would_tear_votes_for_no_language() -> None:
    assert "İle".lower() == "i\u0307le"  # "le" is French
    assert language_of("İle İle İle İle") == "en"


def test_function_words_of_a_language_are_silent_in_it() -> None:
    reading = read_request("Wie kann ich mit dem Bericht die Zahlen prüfen?")
    assert {"mit", "dem", "ich"} <= reading.silent
    assert all(words and "" not in words for words in FUNCTION_WORDS.values())
