"""Nothing is fitted to skills that a judged set wants."""

from collections import Counter
from pathlib import Path

import pytest

from skillyard.engine.bench.runs import read_queries
from tests.shared_data import shared_folder
from training.requests import (
    CHOOSING_HANDS,
    HERE,
    SIBLING_HAND,
    UNSEEN_HANDS,
    excluded_ids,
    read_hands,
    request_rows,
)

NEVER_TRAINED = {f"hand{n}" for n in (*CHOOSING_HANDS, *UNSEEN_HANDS, SIBLING_HAND)}
STYLES = {"vague", "symptom", "nonnative", "other", "plain", "work"}


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    bench = tmp_path / "bench"
    bench.mkdir()
    (bench / "exclude_from_training.txt").write_text("a/judged\n")
    (bench / "train_requests.tsv").write_text("a/judged\tvague\tone\na/free\tvague\ttwo\n")
    return tmp_path


def test_requests_for_excluded_skills_are_left_out(shared: Path) -> None:
    assert excluded_ids(str(shared)) == {"a/judged"}
    assert request_rows(str(shared)) == [("a/free", "vague", "two")]


def test_without_the_list_nothing_is_read(shared: Path) -> None:
    (shared / "bench" / "exclude_from_training.txt").unlink()
    with pytest.raises(FileNotFoundError):
        request_rows(str(shared))
    with pytest.raises(FileNotFoundError):
        read_hands(str(shared))


def test_the_requests_by_other_hands_are_whole() -> None:
    """Five columns, six styles, no request twice, another language where the style says so."""
    path = Path(HERE) / "data" / "hands.tsv"
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    assert all(len(row) == 5 for row in rows)
    assert {row[1] for row in rows} == STYLES
    assert all((row[4] == "en") == (row[1] != "other") for row in rows)
    texts = [row[2].casefold() for row in rows]
    assert len(set(texts)) == len(texts)
    assert all(text.strip() == text for text in texts)


def rows_of(name: str) -> list[list[str]]:
    text = (Path(HERE) / "data" / name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


def test_no_skill_of_the_hands_left_out_has_a_request_by_another() -> None:
    left_out = NEVER_TRAINED - {f"hand{SIBLING_HAND}"}
    rows = rows_of("hands.tsv")
    unseen = {row[0] for row in rows if row[3] in left_out}
    assert unseen.isdisjoint(row[0] for row in rows if row[3] not in left_out)
    data = Path(HERE) / "data"
    for name in ("requests.tsv", "more_requests.tsv"):
        seen = {line.partition("\t")[0] for line in (data / name).read_text("utf-8").splitlines()}
        assert unseen.isdisjoint(seen), name


def test_siblings_are_eight_skills_of_one_owner_that_their_hand_wrote_for() -> None:
    groups: dict[str, set[str]] = {}
    for number, key in rows_of("siblings.tsv"):
        groups.setdefault(number, set()).add(key)
    assert {len(group) for group in groups.values()} == {8}
    assert all(len({key.partition("/")[0] for key in group}) == 1 for group in groups.values())
    keys = {row[0] for row in rows_of("hands.tsv") if row[3] == f"hand{SIBLING_HAND}"}
    assert keys <= set().union(*groups.values())


def test_near_misses_are_asked_of_libraries_of_forty() -> None:
    sizes = Counter(number for number, _ in rows_of("libraries.tsv"))
    assert set(sizes.values()) == {40}
    near, choices = rows_of("near_misses.tsv"), rows_of("choices.tsv")
    assert {row[0] for row in (*near, *choices)} == set(sizes)
    assert all(len(row) == 5 for row in near)
    assert len({row[1].casefold() for row in near}) == len(near)
    assert len({(row[0], row[3].casefold()) for row in choices}) == len(choices)


def test_choices_are_for_skills_of_their_library() -> None:
    libraries = {tuple(row) for row in rows_of("libraries.tsv")}
    for number, kind, _, _, skill, forbidden, _ in rows_of("choices.tsv"):
        assert kind in {"sense", "job", "product", "step", "fit", "forbidden"}
        assert (number, skill) in libraries
        assert (kind == "forbidden") == ((number, forbidden) in libraries)


def test_what_is_set_aside_is_marked() -> None:
    libraries = {tuple(row[:2]) for row in rows_of("encoder_libraries.tsv")}
    for _, number, _, kind, text, right, forbidden in rows_of("asides.tsv"):
        assert all((number, name) in libraries for name in {right, forbidden} - {"-"})
        assert text.count("[[") == text.count("]]")
        assert (kind == "aside") == ("[[" in text) == (forbidden != "-")


def test_libraries_of_the_encoder_hold_no_skill_that_measures_it() -> None:
    libraries = rows_of("encoder_libraries.tsv")
    keys = {key for _, key, _ in libraries}
    others = {key for _, key in rows_of("libraries.tsv")}
    others |= {row[0] for row in rows_of("hands.tsv") if row[3] in NEVER_TRAINED}
    assert keys.isdisjoint(others)
    pairs = {(number, key) for number, key, _ in libraries}
    rows = rows_of("encoder_choices.tsv")
    assert {kind for _, kind, *_ in rows} == {"sense", "job", "product", "step", "fit"}
    assert all((number, key) in pairs for number, _, _, key, _ in rows)


def test_later_judgements_change_none_of_the_shared_ones() -> None:
    shared = shared_folder()
    if shared is None:
        pytest.skip("the shared queries are absent")
    queries = read_queries(str(shared / "bench" / "dev_queries.jsonl"))
    judged = {query.id: query.relevant for query in queries}
    rows = rows_of("development_grades.tsv")
    assert all(key not in judged[query] for query, key, _ in rows)
    assert {grade for _, _, grade in rows} == {"1", "2", "3"}
