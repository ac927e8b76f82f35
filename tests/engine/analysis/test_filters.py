"""Each filter of the chain by itself."""

from __future__ import annotations

from skillyard.engine.analysis import analyzer, filters
from skillyard.engine.analysis.vocabulary import ENGLISH, TECHNICAL
from tests.tables import for_each


@for_each(
    ("text", "surfaces"),
    [
        ("Fast-API, snake_case; next.js!", ["Fast-API", "snake_case", "next.js"]),
        ("c++ and C# on .net", ["c++", "and", "C#", "on", ".net"]),
        ("don't; the user’s file", ["don't", "the", "user’s", "file"]),
        ("src/app/main.py", ["src", "app", "main.py"]),
        ("日本語のテスト 42", ["日本語のテスト", "42"]),
        ("...", []),
        ("", []),
    ],
)
def test_surfaces_are_words_with_their_joiners(text: str, surfaces: list[str]) -> None:
    assert analyzer.surfaces(text) == surfaces


def test_compatible_forms_are_unified() -> None:
    assert filters.compatible(["ｆｕｌｌ", "ﬁle", "①", "plain"]) == ["full", "file", "1", "plain"]


@for_each(("written", "term"), [("C++", "c++"), ("cpp", "c++"), ("K8s", "kubernetes")])
def test_known_terms_have_one_canonical_word(written: str, term: str) -> None:
    assert filters.known_terms([written]) == [term]


def test_canonical_words_are_canonical_themselves() -> None:
    for term in TECHNICAL.values():
        assert TECHNICAL.get(term, term) == term


@for_each(
    ("token", "parts"),
    [
        ("plain", ["plain"]),
        ("camelCase", ["camel", "Case", "camelCase"]),
        ("HTTPServer", ["HTTP", "Server", "HTTPServer"]),
        ("git-bisect", ["git", "bisect", "gitbisect"]),
        ("snake_case_name", ["snake", "case", "name", "snakecasename"]),
        ("one-two-three-four", ["one", "two", "three", "four"]),
        ("python3", ["python3", "python"]),
        ("S3", ["S3"]),
        ("user's", ["user"]),
        ("don't", []),
        ("c++", ["c++"]),
        ("données-brutes", ["données", "brutes", "donnéesbrutes"]),
    ],
)
def test_compounds_are_taken_apart_and_kept_whole(token: str, parts: list[str]) -> None:
    assert filters.split_compounds([token]) == parts


def test_case_and_latin_accents_are_folded_and_other_marks_stay() -> None:
    assert filters.fold(["Déploiement", "STRASSE", "straße", "łódź"]) == [
        "deploiement", "strasse", "strasse", "lodz",
    ]  # fmt: skip
    assert filters.fold(["हिन्दी", "が"]) == ["हिन्दी", "が"]


def test_a_word_is_taken_apart_where_its_script_changes() -> None:
    assert filters.split_scripts(["Dockerの代わり", "кодPython", "plain"]) == [
        "Docker", "の代わり", "код", "Python", "plain",
    ]  # fmt: skip


def test_scripts_without_blanks_become_pairs() -> None:
    assert filters.bigrams(["数据清洗", "词", "word", "код"]) == [
        "数据", "据清", "清洗", "词", "word", "код",
    ]  # fmt: skip


def test_function_words_long_words_and_long_numbers_go() -> None:
    kept = ["deploy", "2024", "x" * filters.MAX_TERM_CHARS]
    gone = ["the", "please", "12345", "x" * (filters.MAX_TERM_CHARS + 1)]
    assert filters.stop([*kept, *gone]) == kept
    assert {"not", "with", "help"} <= ENGLISH


def test_words_of_four_letters_and_more_are_stemmed() -> None:
    assert filters.stem(["deployments", "running", "aws", "gas", "tables", "données"]) == [
        "deploy", "run", "aws", "gas", "tabl", "données",
    ]  # fmt: skip
