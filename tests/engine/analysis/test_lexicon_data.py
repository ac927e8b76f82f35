"""The word list that ships is the one in ``training/data/lexicon``, and its lines are well made."""

from pathlib import Path

import skillyard.engine.analysis
from skillyard.engine.analysis.language import FUNCTION_WORDS
from training.lexicon import by_language

SHIPPED = Path(skillyard.engine.analysis.__file__).parent / "data" / "lexicon.tsv"
LANGUAGES = {"de", "fr", "es", "pt", "it", "nl", "pl", "cs", "sv", "tr"}
LANGUAGES |= {"ru", "uk", "ja", "zh", "ko", "ar", "hi", "vi", "id"}


def lines() -> list[tuple[str, dict[str, list[str]]]]:
    """Return each concept with its forms by language."""
    rows = [line.split("\t") for line in SHIPPED.read_text(encoding="utf-8").splitlines()]
    (english, *concepts), *languages = rows
    assert english == "en"
    assert {len(row) for row in rows} == {len(concepts) + 1}
    return [
        (concept, {code: forms[n].split(",") for code, *forms in languages if forms[n]})
        for n, concept in enumerate(concepts)
    ]


def test_the_package_holds_the_lists_of_the_project() -> None:
    assert SHIPPED.read_text(encoding="utf-8") == by_language()


def test_each_line_has_an_english_concept_and_forms_of_known_languages() -> None:
    for english, forms in lines():
        assert english.strip()
        assert english.isascii(), english
        assert forms, english
        assert set(forms) <= LANGUAGES, english
        for code, listed in forms.items():
            for form in listed:
                bare = form.strip().removesuffix("*")
                assert bare, f"{english}: {code} has an empty form"
                assert "*" not in bare, f"{english}: {code}: {form}"


def test_no_form_is_a_function_word() -> None:
    """It would translate every request of its language to this concept."""
    for english, forms in lines():
        for code, listed in forms.items():
            common = FUNCTION_WORDS.get(code, frozenset())
            assert not common.intersection(form.strip() for form in listed), (english, code)


def test_a_concept_stands_once() -> None:
    concepts = [english for english, _ in lines()]
    assert len(set(concepts)) == len(concepts)
