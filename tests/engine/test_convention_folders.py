"""Commands of Claude Code, rules of Cursor and instructions of Copilot are read as conventions."""

from __future__ import annotations

from pathlib import Path

import skillyard as sy
from tests.parity.trees import relative, write_tree
from tests.tables import for_each
from tests.worked_examples.making import document

FILES = {
    ".claude/commands/ship.md": (
        "---\ndescription: Ships a release.\nargument-hint: [version]\nallowed-tools: Bash(git:*)\n"
        "---\nShip $1.\n"
    ),
    ".claude/commands/db/migrate.md": "# Migrate\n\nRuns the migrations.\n",
    ".cursor/rules/python.mdc": (
        "---\ndescription: Python style.\nglobs: **/*.py, *.pyi\nalwaysApply: false\n---\nFine.\n"
    ),
    ".github/instructions/tests.instructions.md": (
        '---\napplyTo: "tests/**"\n---\nWrite tests as sentences.\n'
    ),
    ".github/copilot-instructions.md": "# House rules\n\nBe brief.\n",
    "packages/a/.cursor/rules/nested.mdc": "Only here.\n",
}


def load(root: Path, files: dict[str, str]) -> sy.Catalog:
    return sy.load_catalog(write_tree(root, files), index=False)


def test_each_layout_is_read_below_any_root(tmp_path: Path) -> None:
    catalog = load(tmp_path, FILES)
    assert [(skill.name, skill.description, skill.tags) for skill in catalog] == [
        ("copilot-instructions", "House rules", ("convention", "copilot-instructions-md")),
        ("migrate", "Runs the migrations.", ("convention", "claude-command")),
        ("nested", "Only here.", ("convention", "cursor-rule")),
        ("python", "Python style.", ("convention", "cursor-rule")),
        ("ship", "Ships a release.", ("convention", "claude-command")),
        ("tests", "Write tests as sentences.", ("convention", "github-instructions")),
    ]
    assert {skill.origin for skill in catalog} == {"convention"}
    assert catalog.counts.skills == 0
    assert catalog.counts.conventions == 6
    assert {skill.name: skill.triggers.files for skill in catalog if skill.triggers.files} == {
        "python": ("**/*.py", "*.pyi"),
        "tests": ("tests/**",),
    }
    assert {each.code for each in catalog.diagnostics} <= {"argument_hint_not_string"}
    assert catalog.get("ship").body == "Ship $1."
    assert not catalog.reload()


@for_each(
    ("globs", "files"),
    [
        ("**/*.ts, *.tsx", ("**/*.ts", "*.tsx")),
        ("{src,lib}/**/*.ts,*.md", ("{src,lib}/**/*.ts", "*.md")),
        ("!dist/**", ("!dist/**",)),
        ("[jt]s/**", ("[jt]s/**",)),
        ("[a.ts, b.ts]", ("a.ts", "b.ts")),
        ("[*.ts, {a,b}/**]", ("*.ts", "{a,b}/**")),
        ('["*.ts", "b.ts"]', ("*.ts", "b.ts")),
        ("\n  - *.ts\n  - src/**", ("*.ts", "src/**")),
        ("*.ts, it's/*.ts", ("*.ts", "it's/*.ts")),
        ("src/*.ts", ("src/*.ts",)),
        ('"*.ts"', ("*.ts",)),
    ],
)
@for_each("line_end", ["\n", "\r\n"])
def test_patterns_of_cursor_rules_are_read_as_they_are_written(
    tmp_path: Path, globs: str, files: tuple[str, ...], line_end: str
) -> None:
    lines = ["---", "description: D.", f"globs: {globs}", "alwaysApply: false", "---", "Fine."]
    rule = tmp_path / ".cursor/rules/x.mdc"
    rule.parent.mkdir(parents=True, exist_ok=True)
    rule.write_bytes(line_end.join([*lines, ""]).encode())
    (skill,) = sy.load_catalog(tmp_path, index=False)
    assert (skill.description, skill.triggers.files) == ("D.", files)


def test_they_are_documents_and_never_chosen_as_skills(tmp_path: Path) -> None:
    catalog = load(tmp_path, FILES | {"ship/SKILL.md": document("ship", "Ships a release.")})
    assert catalog.get("ship").origin == "agentskills"
    assert [match.skill.origin for match in sy.rank(catalog, "ship a release")] == ["agentskills"]
    assert [relative(str(path), tmp_path) for path in sy.discover_skill_files(tmp_path)] == [
        "ship/SKILL.md"
    ]


@for_each(
    ("text", "description"),
    [
        ("---\ndescription: [a\n---\nBody.\n", "---"),
        ("---\nname: own\ndescription: D.\n---\nBody.\n", "D."),
        ("", "Instructions loaded from x.md"),
    ],
)
def test_a_file_without_good_frontmatter_is_still_a_document(
    tmp_path: Path, text: str, description: str
) -> None:
    (skill,) = load(tmp_path, {".claude/commands/x.md": text})
    assert skill.description == description
    assert skill.name == ("own" if "own" in text else "x")


def test_an_unsafe_file_name_is_no_name(tmp_path: Path) -> None:
    (skill,) = load(tmp_path, {".claude/commands/con.md": "Text.\n"})
    assert skill.name == "claude-command"
