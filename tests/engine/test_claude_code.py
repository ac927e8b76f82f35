"""What Claude Code loads is loaded: files without a name, a description or frontmatter at all."""

from __future__ import annotations

from pathlib import Path

import pytest

import skillyard as sy
from skillyard.engine.formats.agentskills import first_paragraph
from tests.parity.trees import write_tree
from tests.tables import for_each

BODY = "# Release notes\n\nCollects the merged changes\nof a release.\n\nMore text.\n"
FOLDER = ".claude/skills"


def loaded(root: Path, text: str, folder: str = f"{FOLDER}/notes") -> sy.Catalog:
    return sy.load_catalog(write_tree(root, {f"{folder}/SKILL.md": text}), index=False)


def codes(catalog: sy.Catalog) -> list[tuple[str, str]]:
    return [(each.severity, each.code) for each in catalog.diagnostics]


@for_each(
    ("text", "warnings"),
    [
        (BODY, ["description_missing", "frontmatter_missing", "name_missing"]),
        (f"---\n---\n{BODY}", ["description_missing", "name_missing"]),
        (f"---\nname: notes\n---\n{BODY}", ["description_missing"]),
        (f"---\nname:\ndescription: ''\n---\n{BODY}", ["description_empty", "name_empty"]),
        (
            "---\ndescription: Collects the merged changes of a release.\n---\nX\n",
            ["name_missing"],
        ),
    ],
)
def test_what_is_missing_is_derived_with_a_warning(
    tmp_path: Path, text: str, warnings: list[str]
) -> None:
    catalog = loaded(tmp_path, text)
    (skill,) = catalog
    assert (skill.name, skill.slug) == ("notes", "notes")
    assert skill.description == "Collects the merged changes of a release."
    assert sorted(code for _, code in codes(catalog)) == warnings
    assert {severity for severity, _ in codes(catalog)} == {"warning"}
    assert skill.body is not None
    assert not skill.body.startswith("---")
    found = sy.validate(tmp_path)
    assert {each.code for each in found if each.severity == "error"} == set()
    assert set(warnings) <= {each.code for each in found}
    assert {each.severity for each in sy.validate(tmp_path, "spec") if each.code in warnings} == {
        "error"
    }


def test_a_moved_folder_of_claude_code_counts_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "moved"))
    (skill,) = loaded(tmp_path, BODY, "moved/skills/notes")
    assert skill.name == "notes"


@for_each("link", [".claude/skills/notes", "home/.claude/skills/notes"])
def test_a_linked_skill_counts_as_claude_codes(
    tmp_path: Path, link: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``npx skills`` makes such links."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write_tree(tmp_path, {".agents/skills/notes/SKILL.md": BODY})
    place = tmp_path / link
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / ".agents/skills/notes")
    assert [skill.name for skill in sy.load_catalog(tmp_path, index=False)] == ["notes"]


@for_each(
    ("text", "code"),
    [
        ("---\nname: notes\n---\n", "description_missing"),
        ("", "description_missing"),
        ("+++\nname = 'notes'\n+++\n", "frontmatter_missing"),
        (" ---\nname: notes\n---\n", "frontmatter_missing"),
        ("---\nname: notes\n", "frontmatter_unclosed"),
        ("---\nname: [notes]\ndescription: x\n---\n", "name_not_string"),
        ("---\nname: notes\ndescription: [x]\n---\ntext\n", "description_not_string"),
    ],
)
def test_what_cannot_be_derived_is_an_error(tmp_path: Path, text: str, code: str) -> None:
    catalog = loaded(tmp_path, text)
    assert list(catalog) == []
    assert codes(catalog) == [("error", code)]


def test_an_unsafe_folder_name_is_no_name(tmp_path: Path) -> None:
    catalog = loaded(tmp_path, BODY, f"{FOLDER}/a<b")
    assert list(catalog) == []
    assert codes(catalog) == [("error", "name_missing")]


def test_an_index_gives_the_same_skills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    texts = {f"{FOLDER}/s{number}/SKILL.md": f"Number {number}.\n" for number in range(70)}
    root = write_tree(tmp_path / "p", texts)
    plain, indexed = sy.load_catalog(root, index=False), sy.load_catalog(root)
    assert type(indexed) is not type(plain)
    assert [(s.name, s.description, s.body) for s in indexed] == [
        (s.name, s.description, s.body) for s in plain
    ]
    assert [d.code for d in indexed.diagnostics] == [d.code for d in plain.diagnostics]


@for_each(
    ("body", "expected"),
    [
        ("# Title\nText below it.\n", "Text below it."),
        ("# Title\n\n## Second\n", "Title"),
        ("```sh\nrm -rf x\n```\n\nAfter the code.\n", "After the code."),
        ("<!-- one -->\n<!-- two\nstill -->\nAfter comments.\n", "After comments."),
        ("---\n\n***\n\nAfter rules.\n", "After rules."),
        ("\n\n", ""),
        ("<!-- never closed\ntext\n", ""),
    ],
)
def test_the_first_paragraph_is_text_that_people_read(body: str, expected: str) -> None:
    assert first_paragraph(body) == expected


class TestTriggers:
    def test_when_to_use_is_a_phrase_and_paths_are_file_patterns(self, tmp_path: Path) -> None:
        (skill,) = loaded(
            tmp_path,
            "---\nname: notes\ndescription: Collects changes.\nwhen_to_use: Tagging a release\n"
            'paths: "docs/**/*.md, src/*.{ts,tsx}"\n---\nX\n',
            "notes",
        )
        assert skill.triggers.phrases == ("Tagging a release",)
        assert skill.triggers.files == ("docs/**/*.md", "src/*.{ts,tsx}")

    def test_lists_are_read_and_other_types_reported(self, tmp_path: Path) -> None:
        head = "---\nname: notes\ndescription: Collects changes.\n"
        (skill,) = loaded(tmp_path / "a", f"{head}when_to_use: [a b, c d]\npaths: [x.md]\n---\nX\n")
        assert skill.triggers == sy.Triggers(("x.md",), (), ("a b", "c d"))
        catalog = loaded(tmp_path / "b", f"{head}when_to_use: {{a: b}}\npaths: {{c: d}}\n---\nX\n")
        assert codes(catalog) == [
            ("warning", "when_to_use_not_list"),
            ("warning", "paths_not_list"),
        ]

    def test_they_count_in_the_ranking(self, tmp_path: Path) -> None:
        head = "---\nname: {0}\ndescription: Does a thing.\n"
        root = write_tree(
            tmp_path,
            {
                f"{name}/SKILL.md": head.format(name) + more + "---\nText.\n"
                for name, more in (
                    ("a", ""),
                    ("b", "when_to_use: The quarterly invoice is due\n"),
                    ("c", 'paths: "billing/**"\n'),
                )
            },
        )
        catalog = sy.load_catalog(root)
        assert sy.rank(catalog, "quarterly invoice")[0].skill.name == "b"
        for scorer in ("hybrid", "confidence"):
            (match,) = sy.rank(catalog, files=["billing/sums.py"], scorer=scorer)
            assert match.skill.name == "c"
