"""Variants: builds of one skill for several hosts, and its translations, are one candidate."""

from __future__ import annotations

from pathlib import Path

import pytest

import skillyard as sy
from skillyard.engine.selection import labels
from skillyard.install.policy.library import open_catalog
from tests.cli.conftest import Run
from tests.engine.test_plugins import CACHE, install
from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.worked_examples.making import document

STEPS = """Polish the design of a page before it ships. Read the style sheet in {folder}.

## Steps

- Align every heading with the grid and check the contrast of its colours.
- Remove the shadows that no element needs, then ask {host} for a screenshot.
- Compare the screenshot with the brief and name what still differs.
"""
TRANSLATED = "发布前打磨页面的设计。\n\n## 步骤\n\n- 将标题与网格对齐。\n- 删除多余的阴影。\n"
OTHER = "Grind a telescope mirror with carborundum until its curve is a sphere, then silver it."


def polish(body: str) -> str:
    return document("polish", description="Polishes the design of a page.", body=body)


HOSTS = {
    f".{host}/skills/polish/SKILL.md": polish(STEPS.format(host=host, folder=f".{host}"))
    for host in ("claude", "cursor", "github", "kiro")
}


@requirement("catalog:variants")
def test_builds_for_hosts_and_translations_are_one_candidate_on_every_surface(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tree(tmp_path, {**HOSTS, "docs/zh-CN/skills/polish/SKILL.md": polish(TRANSLATED)})
    for command in ("rank", "select"):
        shown = run(command, "polish the design of a page", "--root", ".", "--json").json
        (match,) = shown["matches"] if command == "rank" else shown["selected"]
        assert match["path"].endswith(".claude/skills/polish/SKILL.md")
        assert [each["path"].split("/skills/")[0].split("/")[-1] for each in match["variants"]] == [
            ".cursor",
            ".github",
            ".kiro",
            "zh-CN",
        ]
    text = run("select", "polish the design of a page", "--root", ".").out
    assert "also at" in text
    assert "Which one" not in text
    listed = run("list", "--root", ".", "--json").json
    assert [len(card["places"]) for card in listed["skills"]] == [5]
    assert listed["counts"]["selectable"] == 1


def test_an_index_and_files_agree_on_variants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    root = write_tree(tmp_path / "p", {**HOSTS, "x/polish/SKILL.md": polish(OTHER)})
    for _ in range(2):
        files, indexed = sy.load_catalog(root), open_catalog(root, force_scan=True)
        assert (indexed.counts, indexed.diagnostics) == (files.counts, files.diagnostics)
        for catalog in (files, indexed):
            matches = sy.rank(catalog, "polish the design of a page, grind a mirror")
            places = [catalog.places(match.skill) for match in matches]
            assert sorted(map(len, places)) == [1, 4]
        first = root / ".claude/skills/polish/SKILL.md"
        first.write_bytes((root / ".kiro/skills/polish/SKILL.md").read_bytes())


def test_a_different_skill_of_the_name_stays_and_a_question_names_paths(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path,
        {f"{at}/skills/polish/SKILL.md": polish(text) for at, text in (("a", STEPS), ("b", OTHER))},
    )
    catalog = sy.load_catalog(root)
    assert labels(catalog.skills) == [
        ("polish", " (a/skills/polish)"),
        ("polish", " (b/skills/polish)"),
    ]
    selection = sy.select(catalog, "polish the design of a page", min_score=0, top_k=2)
    question = sy.context.menu_text(selection._replace(menu=selection.selected))
    assert question.endswith("**polish** (a/skills/polish) or **polish** (b/skills/polish)?")


def test_a_plugins_skill_and_its_copy_are_one_and_both_names_lead_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = f"{CACHE}/design/1.0.0/.claude-plugin/plugin.json"
    files = {
        f"home/{CACHE}/design/1.0.0/skills/polish/SKILL.md": polish(STEPS),
        f"home/{manifest}": '{"name": "design"}',
        "project/.claude/skills/polish/SKILL.md": polish(STEPS),
    }
    install(write_tree(tmp_path, files) / "home", "design")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    catalog = sy.load_catalog(tmp_path / "project", scopes="user")
    assert [skill.name for skill in catalog.candidates] == ["polish"]
    assert catalog.get("design:polish") is catalog.get("polish")
    assert [skill.name for skill in catalog.variants(catalog.get("polish"))] == ["design:polish"]
