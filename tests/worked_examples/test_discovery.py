"""Which files below a root are skills, and in which order they come."""

from __future__ import annotations

from pathlib import Path

import pytest

import skillyard as sy
from tests.parity.trees import relative, write_tree
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import document


def below(root: Path, paths: list[Path]) -> list[str]:
    return [relative(str(path), root) for path in paths]


def loaded(root: Path) -> list[str]:
    return [relative(skill.path, root) for skill in sy.load_catalog(root).skills]


PROJECT = {
    ".skills/b.md": document("b"),
    ".skills/team/a.md": document("a"),
    ".skills/team/deep/c.md": document("c"),
    ".skills/notes.txt": "x",
    "AGENTS.md": "# Rules\n",
    "pkg/api/CLAUDE.md": "# Rules\n",
    "pkg/GEMINI.md": "# Rules\n",
    "docs/COPILOT.md": "# Rules\n",
    "README.md": "# Read me\n",
}


@requirement("discovery:skill-files", "discovery:sorted-unique")
def test_skill_files_are_the_markdown_files_below_dot_skills(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "project", PROJECT)
    found = sy.discover_skill_files(root)
    runtime = [path for path in below(root, found) if path.startswith(".skills/")]
    assert runtime == [".skills/b.md", ".skills/team/a.md", ".skills/team/deep/c.md"]
    assert found == sorted(set(found))
    assert not any(path.name in {"README.md", "AGENTS.md", "notes.txt"} for path in found)


@requirement("discovery:instruction-files", "discovery:sorted-unique")
def test_instruction_files_are_the_convention_files_of_the_whole_tree(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "project", PROJECT)
    found = sy.discover_instruction_files(root)
    assert found == sorted(set(found))
    # Whether the files below .skills belong to this list too is left open.
    conventions = [path for path in below(root, found) if not path.startswith(".skills/")]
    assert conventions == [
        "AGENTS.md",
        "docs/COPILOT.md",
        "pkg/GEMINI.md",
        "pkg/api/CLAUDE.md",
    ]


@requirement("discovery:soul-root-only")
def test_a_soul_file_counts_in_the_root_only(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "p", {"SOUL.md": "# Me\n", "pkg/SOUL.md": "# Not me\n"})
    assert below(root, sy.discover_instruction_files(root)) == ["SOUL.md"]
    assert loaded(root) == ["SOUL.md"]


@requirement("discovery:heavy-folders")
@for_each("heavy", [".git", "target", "node_modules", "dist", "build", ".next"])
def test_heavy_folders_are_not_entered(tmp_path: Path, heavy: str) -> None:
    root = write_tree(
        tmp_path / "p",
        {
            "kept/SKILL.md": document("kept"),
            f"{heavy}/x/SKILL.md": document("x"),
            f"pkg/{heavy}/AGENTS.md": "# Rules\n",
        },
    )
    assert loaded(root) == ["kept/SKILL.md"]


@requirement("discovery:relative-parts")
@for_each("place", ["agents", "scripts", "references", "build", "node_modules"])
def test_where_the_project_lies_does_not_matter(tmp_path: Path, place: str) -> None:
    files = {".skills/a.md": document("a"), "b/SKILL.md": document("b"), "AGENTS.md": "# Rules\n"}
    for root in (tmp_path / place / "project", tmp_path / "other" / place):
        write_tree(root, files)
        assert sorted(loaded(root)) == [".skills/a.md", "AGENTS.md", "b/SKILL.md"]


@requirement("discovery:skill-folders")
def test_every_folder_with_a_skill_file_is_a_skill(tmp_path: Path) -> None:
    paths = [
        ".agents/skills/two/SKILL.md",
        ".claude/skills/one/SKILL.md",
        "outer/SKILL.md",
        "outer/inner/SKILL.md",
        "plugins/x/skills/three/SKILL.md",
    ]
    root = write_tree(tmp_path / "p", {path: document(path.split("/")[-2]) for path in paths})
    assert sorted(loaded(root)) == paths


@requirement("discovery:inside-skill")
@for_each("folder", ["references", "scripts", "assets", "resources", "docs", "examples"])
def test_what_lies_in_the_side_folders_of_a_skill_is_no_skill(tmp_path: Path, folder: str) -> None:
    root = write_tree(
        tmp_path / "p",
        {
            "pdf/SKILL.md": document("pdf"),
            f"pdf/{folder}/SKILL.md": document("inside"),
            f"pdf/{folder}/deep/SKILL.md": document("deep"),
        },
    )
    assert loaded(root) == ["pdf/SKILL.md"]


@requirement("discovery:exact-name")
def test_a_lower_case_name_is_taken_only_where_the_exact_one_is_absent(tmp_path: Path) -> None:
    files = {
        "both/SKILL.md": document("upper"),
        "both/skill.md": document("lower"),
        "alone/skill.md": document("alone"),
    }
    found = sy.load_catalog(write_tree(tmp_path / "p", files))
    assert [skill.name for skill in found] == ["alone", "upper"]


@requirement("discovery:origins")
def test_every_skill_says_its_layout(tmp_path: Path) -> None:
    oasis = document("Review", extra="id: review\ntriggers: [review this]\npriority: 1\n")
    root = write_tree(
        tmp_path / "p",
        {
            "pdf/SKILL.md": document("pdf"),
            ".skills/run.md": document("run"),
            "key_skills/review/SKILL.md": oasis,
            "key_skills/plain/SKILL.md": document("plain"),
            "AGENTS.md": "# Rules\n",
        },
    )
    found = {skill.name: skill.origin for skill in sy.load_catalog(root)}
    assert found == {
        "pdf": "agentskills",
        "run": "runtime",
        "Review": "oasis",
        "plain": "agentskills",
        "agents": "convention",
    }


@requirement("discovery:only-given-roots")
def test_the_folders_of_the_user_are_read_only_when_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = write_tree(tmp_path / "home", {".claude/skills/mine/SKILL.md": document("mine")})
    root = write_tree(tmp_path / "project", {"pdf/SKILL.md": document("pdf")})
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert [skill.name for skill in sy.load_catalog(root)] == ["pdf"]
    both = sy.load_catalog(root, scopes=("user",))
    assert {skill.name: skill.scope for skill in both} == {"pdf": "project", "mine": "user"}


@requirement("discovery:several-roots")
def test_an_earlier_root_wins_a_name_with_a_warning(tmp_path: Path) -> None:
    first = write_tree(tmp_path / "one", {"dup/SKILL.md": document("dup", "First.")})
    second = write_tree(
        tmp_path / "two",
        {"dup/SKILL.md": document("dup", "Second."), "b/SKILL.md": document("b")},
    )
    both = sy.load_catalog(first, second)
    assert len(both) == 3
    assert both.get("dup").description == "First."
    told = [found for found in both.diagnostics if found.severity == "warning"]
    assert any("dup" in found.message + found.path for found in told)
