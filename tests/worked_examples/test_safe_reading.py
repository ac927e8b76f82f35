"""What reading refuses, and that it never fails, hangs or leaves its roots."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import skillyard as sy
from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import document, names

CANARY = {"canary/SKILL.md": document("canary", "Sings.")}


def beside_canary(tmp_path: Path, content: str | bytes, path: str = "bad/SKILL.md") -> sy.Catalog:
    """Load one file beside a good skill, and hold that the good one loaded."""
    root = write_tree(tmp_path / "project", {**CANARY, path: content})
    loaded = sy.load_catalog(root)
    assert loaded.get("canary").description == "Sings."
    return loaded


def refused(loaded: sy.Catalog, path: str = "bad/SKILL.md") -> sy.Diagnostic:
    """Hold that only the good skill loaded; return the error about the other file."""
    assert [skill.name for skill in loaded] == ["canary"]
    errors = [one for one in loaded.diagnostics if one.severity == "error"]
    assert [one.path.endswith(path) for one in errors] == [True]
    assert errors[0].code
    assert errors[0].message
    return errors[0]


@requirement("security:yaml-features")
@for_each(
    "extra",
    [
        "license: &a MIT\n",
        "license: &a MIT\nversion: *a\n",
        "metadata:\n  <<: {a: b}\n",
        "license: !!python/object:os.system x\n",
        "license: !local x\n",
        "license: !!int ''\n",
        'license: !!bool "x"\n',
        "? [a]\n: b\n",
    ],
)
def test_anchors_aliases_tags_and_merge_keys_are_refused(tmp_path: Path, extra: str) -> None:
    refused(beside_canary(tmp_path, document("bad", extra=extra)))


@requirement("security:yaml-features")
def test_a_merge_bomb_of_a_few_hundred_bytes_is_refused_at_once(tmp_path: Path) -> None:
    lines = ["a0: &a0 {x: y}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 9)]
    refused(beside_canary(tmp_path, document("bad", extra="\n".join(lines) + "\n")))


@requirement("security:yaml-duplicates")
@for_each("extra", ["name: other\n", "metadata:\n  a: b\n  a: c\n"])
def test_a_second_key_of_the_same_name_is_refused_with_its_line(tmp_path: Path, extra: str) -> None:
    found = refused(beside_canary(tmp_path, document("bad", extra=extra)))
    assert found.line == 3 + extra.count("\n")


@requirement("security:yaml-depth")
@for_each(
    "extra",
    [
        "metadata: " + "[" * 500 + "]" * 500 + "\n",
        "metadata: " + "[" * 8_000 + "\n",
        "metadata: " + "{a: " * 500 + "b" + "}" * 500 + "\n",
        "metadata:\n" + "".join(f"{' ' * n}k{n}:\n" for n in range(1, 120)),
        "metadata:\n  " + "- " * 2_000 + "x\n",
    ],
)
def test_deep_nesting_is_refused(tmp_path: Path, extra: str) -> None:
    refused(beside_canary(tmp_path, document("bad", extra=extra)))


@requirement("security:yaml-scalars")
@for_each("value", ["2024-99-99", "9" * 4_000, ".nan", "12:30:45", "0755", "no"])
def test_no_scalar_can_make_reading_fail(tmp_path: Path, value: str) -> None:
    loaded = beside_canary(tmp_path, document("odd", extra=f"version: {value}\n"), "odd/SKILL.md")
    assert loaded.get("odd").version == value


@requirement("security:repair")
def test_an_unquoted_colon_is_repaired_and_the_repair_is_reported(tmp_path: Path) -> None:
    loaded = beside_canary(tmp_path, document("mended", "Use when: asked"), "mended/SKILL.md")
    assert loaded.get("mended").description == "Use when: asked"
    told = [one for one in loaded.diagnostics if one.path.endswith("mended/SKILL.md")]
    assert told
    assert {one.severity for one in told} <= {"warning", "info"}
    assert any(one.line == 3 for one in told)


@requirement("security:size-caps")
def test_a_file_over_one_mebibyte_is_refused(tmp_path: Path) -> None:
    refused(beside_canary(tmp_path, document("bad", body="x" * 1_100_000)))


@requirement("security:size-caps")
def test_frontmatter_over_sixteen_kibibytes_is_refused(tmp_path: Path) -> None:
    extra = "".join(f"# comment {number:05}\n" for number in range(1200))
    refused(beside_canary(tmp_path, document("bad", extra=extra)))


@requirement("security:encoding")
@for_each(
    "content",
    [
        document("bad").encode("utf-16"),
        document("bad", "Größe.").encode("latin-1"),
        document("bad").encode() + b"\xc0\xaf",
        document("bad").encode() + b"\xed\xa0\x80",
        document("bad").encode() + b"\x00",
    ],
)
def test_text_that_is_not_utf_8_is_refused(tmp_path: Path, content: bytes) -> None:
    refused(beside_canary(tmp_path, content))


@requirement("security:any-bytes")
@for_each(
    "content",
    [b"", b"---", b"\x7fELF\x01\x02", b"\n" * 20_000, b"---\n" * 5_000, b"\xff" * 100, b"---\r"],
)
@for_each("path", ["bad/SKILL.md", ".skills/bad.md", "key_skills/bad/SKILL.md"])
def test_any_bytes_give_a_diagnostic_and_never_another_exception(
    tmp_path: Path, content: bytes, path: str
) -> None:
    refused(beside_canary(tmp_path, content, path), path)


@requirement("security:special-files")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFO")
@for_each("path", ["pipe/SKILL.md", ".skills/pipe.md", "AGENTS.md"])
def test_a_fifo_in_the_place_of_a_skill_is_never_opened(tmp_path: Path, path: str) -> None:
    root = write_tree(tmp_path / "project", CANARY)
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(root / path)
    loaded = sy.load_catalog(root)
    assert [skill.name for skill in loaded] == ["canary"]
    assert any(one.path.endswith(path) for one in loaded.diagnostics)


@requirement("security:links-out")
def test_a_skill_file_that_links_out_of_its_folder_is_not_read(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "project", CANARY)
    write_tree(tmp_path, {"secret.md": document("secret")})
    (root / "bad").mkdir()
    (root / "bad/SKILL.md").symlink_to(tmp_path / "secret.md")
    refused(sy.load_catalog(root))


@requirement("security:links-out")
def test_a_skill_folder_that_links_out_of_the_root_is_skipped_with_a_diagnostic(
    tmp_path: Path,
) -> None:
    root = write_tree(tmp_path / "project", CANARY)
    write_tree(tmp_path, {"outside/secret/SKILL.md": document("secret")})
    (root / "linked").symlink_to(tmp_path / "outside/secret")
    loaded = sy.load_catalog(root)
    assert [skill.name for skill in loaded] == ["canary"]
    assert any(one.path.endswith("linked") for one in loaded.diagnostics)


@requirement("security:links-inside")
def test_a_linked_skill_folder_inside_the_root_is_followed(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "project", CANARY)
    write_tree(root, {".agents/skills/stored/SKILL.md": document("stored")})
    (root / ".claude/skills").mkdir(parents=True)
    (root / ".claude/skills/stored").symlink_to(root / ".agents/skills/stored")
    loaded = sy.load_catalog(root)
    assert {skill.name for skill in loaded} == {"canary", "stored"}


HIDDEN = {
    "bidi": "\u202e",
    "zero width": "\u200b",
    "tag": "\U000e0041",
    "mark": "\ufeff",
    "control": "\\x1b[2J",
}


@requirement("security:hidden-text")
@for_each("sign", HIDDEN.values(), ids=HIDDEN)
@for_each("field", ["name", "description"])
def test_invisible_text_in_name_or_description_refuses_a_skill(
    tmp_path: Path, field: str, sign: str
) -> None:
    fields = {"name": "bad", "description": "Does a thing."}
    fields[field] = f'"{fields[field]}{sign}x"'
    refused(beside_canary(tmp_path, document(**fields)))


@requirement("security:hidden-text")
def test_a_body_keeps_its_invisible_text_and_says_so(tmp_path: Path) -> None:
    body = "One \u202etwo \U000e0041three."
    loaded = beside_canary(tmp_path, document("odd", body=body), "odd/SKILL.md")
    assert loaded.get("odd").body == body
    assert any(one.path.endswith("odd/SKILL.md") for one in loaded.diagnostics)


@requirement("security:lengths")
def test_a_description_over_its_length_is_warned_of_and_far_over_it_refused(
    tmp_path: Path,
) -> None:
    long = beside_canary(tmp_path / "a", document("long", "d" * 1_025), "long/SKILL.md")
    assert len(long) == 2
    assert [one.severity for one in long.diagnostics] == ["warning"]
    refused(beside_canary(tmp_path / "b", document("bad", "d" * 5_000)))


@requirement("security:name-paths")
@for_each("name", ["..", "../../evil", "/tmp/evil", "'..\\..\\evil'", "a/b", "'a\\nb'", '"a\\nb"'])
def test_a_name_that_is_a_way_out_of_a_folder_does_not_load(tmp_path: Path, name: str) -> None:
    refused(beside_canary(tmp_path, document(name)))


@requirement("security:nothing-runs")
def test_reading_ranking_and_injecting_start_no_process_and_import_nothing(
    tmp_path: Path,
) -> None:
    root = write_tree(
        tmp_path / "project",
        {
            **CANARY,
            "evil/SKILL.md": document("evil", "Runs.", "!`touch owned`\n$(touch owned)\n"),
            "evil/scripts/run.sh": "touch owned\n",
            "evil/conftest.py": "raise SystemExit\n",
            "evil/sitecustomize.py": "raise SystemExit\n",
        },
    )
    seen: list[str] = []
    watching = True

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event in {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"}:
            seen.append(event)
        if watching and event == "import" and "evil" in repr(arguments):
            seen.append(repr(arguments))

    sys.addaudithook(watch)
    loaded = sy.load_catalog(root)
    assert names(sy.rank(loaded, "evil runs", scorer="overlap", limit=1)) == ["evil"]
    assert sy.inject("evil runs", loaded).match is not None
    watching = False
    assert seen == []
    assert not list(tmp_path.rglob("owned"))
