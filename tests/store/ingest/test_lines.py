"""JSON lines: every shape that is read, and everything else as a diagnostic with its line."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import DEFAULT_LIMITS, Diagnostic, InvalidInput
from skillyard.store.ingest import lines as module
from skillyard.store.ingest import objects
from skillyard.store.ingest.lines import Lines
from skillyard.store.ingest.row_builder import build_rows
from skillyard.store.ingest.work_items import BuildSettings, Item
from skillyard.store.protocol import CatalogStore
from skillyard.store.rows import row_of, standing_of
from skillyard.store.values import FileDigest
from tests.store.ingest.inputs import document, jsonl, publish
from tests.store.skills import key

SETTINGS = BuildSettings("acme", "", DEFAULT_LIMITS, "store")
WHOLE = {
    "content": document("csv"),
    "path": "web/csv/SKILL.md",
    "source": "owner/repo",
    "commit": "c0ffee",
    "url": "https://example.com/csv",
    "install_count": 7,
    "references": [{"name": "dates", "path": "references/dates.md", "content": "ISO 8601."}],
    "files": [{"path": "run.py", "sha256": "ab" * 32, "size": 12}],
    "unknown": "ignored",
}


def found(*paths: str) -> list[Item | Diagnostic]:
    return list(Lines(paths).items(""))


def codes(*paths: str) -> list[tuple[str, int | None]]:
    return [(each.code, each.line) for each in found(*paths) if isinstance(each, Diagnostic)]


def test_a_line_says_everything_of_a_skill(tmp_path: Path, store: CatalogStore) -> None:
    publish(store, lines=[jsonl(tmp_path / "a.jsonl", [WHOLE])])
    version = store.get(key("web/csv", source="owner/repo"))
    skill = version.skill
    assert (skill.name, skill.slug, skill.install_count) == ("csv", "csv", 7)
    assert (skill.body, skill.path) == ("# csv\n\none", "web/csv/SKILL.md")
    assert skill.references[0]._asdict() == WHOLE["references"][0]  # type: ignore[index]
    assert version.files == (FileDigest("run.py", "ab" * 32, 12),)
    assert (version.commit, version.url) == ("c0ffee", "https://example.com/csv")


def test_a_line_and_a_folder_of_the_same_content_are_the_same_skill(
    tmp_path: Path, store: CatalogStore
) -> None:
    (tmp_path / "root/web/csv").mkdir(parents=True)
    (tmp_path / "root/web/csv/SKILL.md").write_text(document("csv"))
    publish(store, tmp_path / "root")
    line = jsonl(tmp_path / "a.jsonl", [{"content": document("csv"), "path": "web/csv"}])
    assert publish(store, lines=[line]).unchanged == 1


def test_the_fields_of_a_skill_may_stand_in_the_line(tmp_path: Path, store: CatalogStore) -> None:
    shape = {
        "id": "owner/csv",
        "name": "csv",
        "description": "Cleans.",
        "tags": ["a", "b"],
        "source": "owner/repo",
        "path": "skills/csv-folder/SKILL.md",
        "license": "MIT",
        "text": "Look first.",
    }
    path = jsonl(tmp_path / "a.jsonl", [shape, {"name": "n", "description": "d", "text": "t"}])
    assert publish(store, lines=[path]).added == 2
    skill = store.get(key("skills/csv-folder", source="owner/repo")).skill
    assert (skill.name, skill.tags, skill.license, skill.body) == (
        *("csv", ("a", "b"), "MIT", "Look first."),
    )
    assert skill.slug == "csv-folder"
    assert store.get(key("n")).skill.body == "t"
    assert publish(store, lines=[path]).unchanged == 2


def test_plain_packed_and_standard_input_are_read_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [{"content": document(name), "path": name} for name in "abc"]
    plain, packed = jsonl(tmp_path / "a.jsonl", made), jsonl(tmp_path / "b.gz", made)
    data = gzip.compress(b"\xef\xbb\xbf" + Path(plain).read_bytes() + b"\n  \n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
    read = [[each[3:] for each in found(path)] for path in (plain, packed, "-")]
    assert [places for places, *_ in read[0]] == ["a", "b", "c"]
    assert [each[-1] for each in read[0]] == [each[-1] for each in read[1]]
    assert [each[-1] for each in read[0]] == [each[-1] for each in read[2]]


BAD: list[tuple[bytes, str]] = [
    (b"{", "line_not_json"),
    (b"[1]", "line_not_object"),
    (b'"text"', "line_not_object"),
    (b'{"content": "\xff"}', "line_not_utf8"),
    (b'{"content": "x", "path": "../up"}', "line_field"),
    (b'{"content": "x", "path": "/etc/passwd"}', "line_field"),
    (b'{"content": "x", "path": 1}', "line_field"),
    (b'{"content": "x", "source": ["a"]}', "line_field"),
    (b"[" * 100_000, "line_not_json"),
    (b"1" * 5_000, "line_not_json"),
]


def test_a_bad_line_is_named_and_stops_no_other(tmp_path: Path) -> None:
    lines: list[Any] = [line for pair in BAD for line in (pair[0], {"content": document("a")})]
    path = jsonl(tmp_path / "a.jsonl", lines)
    assert codes(path) == [(code, 2 * n + 1) for n, (_, code) in enumerate(BAD)]
    assert sum(isinstance(each, Item) for each in found(path)) == len(BAD)


FIELDS: list[tuple[dict[str, Any], str]] = [
    ({}, "neither content nor"),
    ({"content": 1}, "content must be text"),
    ({"content": document("a"), "install_count": -1}, "install_count"),
    ({"content": document("a"), "install_count": True}, "install_count"),
    ({"content": document("a"), "install_count": 2**63}, "install_count"),
    ({"content": document("a"), "url": "javascript:alert(1)"}, "url"),
    ({"content": document("a"), "references": {"path": "a"}}, "references"),
    ({"content": document("a"), "references": ["a"]}, "references"),
    ({"content": document("a"), "references": [{"path": "../a"}]}, "references"),
    ({"content": document("a"), "files": [{"path": "a", "sha256": "x", "size": 1}]}, "sha256"),
    ({"content": document("a"), "files": [{"path": "a", "sha256": "0" * 64}]}, "size"),
    ({"name": "a", "description": " ", "text": "t"}, "description is empty"),
    ({"name": "a", "description": "d" * 5_000, "text": "t"}, "at most 4,096"),
    ({"name": "a", "description": "d", "text": "t", "tags": [1]}, "tags"),
    ({"name": "a", "description": "d", "text": "x" * 1_048_577}, "larger"),
    ({"content": "no fences"}, "---"),
    ({"content": "---\nname: a\nname: b\ndescription: d\n---\nx"}, "line 3 of the text"),
    ({"content": document("a") + "\0"}, "NUL"),
    ({"name": "\ud800", "description": "d", "text": "t"}, "surrogate"),
    ({"content": document("a"), "path": "p" * 600}, "512 bytes"),
]


def test_a_bad_field_is_named_with_file_and_line(tmp_path: Path, store: CatalogStore) -> None:
    fine = {"content": document("fine"), "path": "fine"}
    path = jsonl(tmp_path / "a.jsonl", [fine, *(line for line, _ in FIELDS)])
    done = publish(store, lines=[path])
    assert (done.added, done.refused, len(done.diagnostics)) == (1, len(FIELDS), len(FIELDS))
    faults = sorted(done.diagnostics, key=lambda fault: fault.line or 0)
    for number, (fault, (_, said)) in enumerate(zip(faults, FIELDS, strict=True), 2):
        assert said in f"{fault.message}; {fault.hint}"
        assert (fault.path, fault.line, fault.severity) == (path, number, "error")


def test_a_line_that_is_too_long_is_skipped_and_never_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_LINE_BYTES", 300)
    monkeypatch.setattr(module, "_PIECE", 16)
    long = {"content": "x" * 1_000}
    path = jsonl(tmp_path / "a.jsonl", [long, {"content": document("a")}, long])
    assert codes(path) == [("line_too_long", 1), ("line_too_long", 3)]
    exact = json.dumps({"content": "x" * (300 - len('{"content": ""}'))})
    assert len(exact) == 300
    assert codes(jsonl(tmp_path / "b.jsonl", [exact, exact])) == []


def test_a_packed_file_that_is_cut_off_or_damaged_is_read_as_far_as_it_goes(
    tmp_path: Path,
) -> None:
    made = [{"content": document(f"s{n}", str(n) * 50), "path": f"s{n}"} for n in range(2_000)]
    path = Path(jsonl(tmp_path / "a.gz", made))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert [code for code, _ in codes(str(path))] == ["lines_unreadable"]
    assert len(found(str(path))) > 100
    damaged = bytearray(whole)
    damaged[-6] ^= 255
    path.write_bytes(damaged)
    assert [code for code, _ in codes(str(path))] == ["lines_unreadable"]


def test_a_file_that_is_not_there_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    for path in (str(tmp_path / "none"), str(tmp_path)):
        with pytest.raises(InvalidInput, match="cannot read"):
            Lines([path])
    with pytest.raises(InvalidInput, match="once"):
        Lines(["-", "-"])


def test_how_many_lines_there_are_is_estimated_from_what_was_read(tmp_path: Path) -> None:
    made = [{"content": document("a", "x" * 2_000), "path": f"s{n}"} for n in range(1_000)]
    for name in ("a.jsonl", "b.gz"):
        lines = Lines([jsonl(tmp_path / name, made)] * 2)
        assert lines.total is None
        taken = lines.items("")
        for _ in range(600):
            next(taken)
        assert lines.total is not None
        assert 1_000 < lines.total < 4_000
        assert sum(1 for _ in taken) == 1_400
        assert lines.total == 2_000
    assert Lines([]).total == 0


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)
_names = st.sampled_from([*WHOLE, "name", "description", "text", "tags", "license"])


@given(st.dictionaries(_names, _json, max_size=8), st.booleans())
def test_whatever_a_line_holds_becomes_a_row_or_an_error(
    line: dict[str, Any], complete: bool
) -> None:
    given = {**WHOLE, **line} if complete else line
    item = Item("f", 3, "", "a/b", 0, given)
    (made,) = build_rows(SETTINGS, [(item, None)])
    if made.row is None:
        assert [found.severity for found in made.diagnostics] == ["error"]
        assert made.diagnostics[0].line == 3
    else:
        assert made.digest == made.row.digest


@given(st.dictionaries(_names, _json, max_size=8))
def test_what_is_known_to_be_unchanged_without_parsing_is_unchanged(line: dict[str, Any]) -> None:
    """The quick comparison may miss that nothing changed, and never that something did."""
    item = Item("f", 1, "", "web/csv", 0, {**WHOLE, "references": None, **line})
    kept, _ = objects.submission({**WHOLE, "references": None}, "", "web/csv", DEFAULT_LIMITS)
    row = row_of(kept, tenant="acme")
    columns = ("acme", "", "", "web/csv", 1, row.digest, row.installs, row.document, row.files)
    (made,) = build_rows(SETTINGS, [(item, None)])
    try:
        same = objects.is_unchanged(item.what, "web/csv", standing_of(columns))  # type: ignore[arg-type]
    except InvalidInput:
        same = False
    if same and made.row is not None:
        assert (made.row.digest, made.row.installs) == (row.digest, row.installs)
