"""In a monorepo a skill below ``packages/a`` counts for files below it, when that is asked for."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import skillyard as sy
from skillyard.cli import main
from tests.parity.trees import write_tree
from tests.tables import for_each
from tests.worked_examples.making import document

TEXT = "Formats the tables of a report."
SKILLS = {
    "top": ".claude/skills/top",
    "plain": "library/plain",
    "a": "packages/a/.claude/skills/a",
    "b": "packages/b/.agents/skills/b",
    "deep": "packages/b/deep/skills/deep",
}
EVERYWHERE = {"top", "plain", "deep"}
"""A folder ``skills`` alone is that of a plugin, a package or a collection."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(
        tmp_path, {f"{place}/SKILL.md": document(name, TEXT) for name, place in SKILLS.items()}
    )


def names(catalog: sy.Catalog, *files: str, text: str = TEXT, scorer: str = "hybrid") -> set[str]:
    query = sy.Query(text, files, package_scope=True)
    policy = sy.SelectionPolicy(min_score=0.0, top_k=10)
    return {match.skill.name for match in sy.select(catalog, query, policy, scorer).selected}


@for_each("scorer", ["hybrid", "overlap", "relevance"])
@for_each(
    ("files", "found"),
    [
        (["packages/a/src/x.py"], {"a"}),
        (["./packages/b/x.py"], {"b"}),
        (["packages/b/deep/x.py"], {"b"}),
        (["packages/ab/x.py"], set()),
        (["packages/a/../b/x.py"], {"b"}),
        (["packages/a/x.py", "packages/b/x.py"], {"a", "b"}),
        (["README.md"], set()),
        ([], {"a", "b"}),
    ],
)
def test_a_skill_of_a_package_counts_for_its_files(
    root: Path, files: list[str], found: set[str], scorer: str
) -> None:
    catalog = sy.load_catalog(root)
    assert names(catalog, *files, scorer=scorer) == EVERYWHERE | found
    absolute = [str(root / file) for file in files]
    assert names(catalog, *absolute, scorer=scorer) == EVERYWHERE | found


def test_without_the_setting_every_skill_counts(root: Path) -> None:
    catalog = sy.load_catalog(root)
    matches = sy.rank(catalog, TEXT, ["packages/a/x.py"])
    assert {match.skill.name for match in matches} == set(SKILLS)


@for_each(
    ("place", "package"),
    [
        ("packages/a/.claude/skills/group/skills/s", "packages/a"),
        ("vendor/skills/packages/a/.claude/skills/s", "vendor/skills/packages/a"),
        ("packages/a/skills/group/.agents/skills/s", "packages/a/skills/group"),
    ],
)
def test_the_hosts_folder_says_where_the_package_is(
    tmp_path: Path, place: str, package: str
) -> None:
    write_tree(tmp_path, {f"{place}/SKILL.md": document("s", TEXT)})
    catalog = sy.load_catalog(tmp_path)
    assert names(catalog, f"{package}/x.py") == {"s"}
    assert names(catalog, f"{os.path.dirname(package)}/x.py") == set()
    assert names(catalog, "other/x.py") == set()


def test_skills_of_plugins_and_installed_packages_count_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin, library = "tools/near", "node_modules/lib"
    market = {"name": "m", "plugins": [{"name": "near", "source": f"./{plugin}"}]}
    write_tree(
        tmp_path,
        {
            ".git": "",
            "package.json": '{"dependencies": {"lib": "1"}}',
            f"{library}/package.json": '{"agents": {"skills": ["skills/one"]}}',
            f"{library}/skills/one/SKILL.md": document("one", TEXT),
            ".claude-plugin/marketplace.json": json.dumps(market),
            f"{plugin}/skills/two/SKILL.md": document("two", TEXT),
            "packages/a/.claude/skills/a/SKILL.md": document("a", TEXT),
        },
    )
    monkeypatch.chdir(tmp_path)
    assert names(sy.load_catalog("."), "src/x.py") == {"two"}  # also without the scopes
    for roots in (["."], []):
        catalog = sy.load_catalog(roots, scopes=["project", "packages", "marketplaces"])
        assert names(catalog, "src/x.py") == {"one", "near:two"}


def test_the_command_line_takes_the_setting_and_why_says_what_it_leaves_out(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--root", str(root), "--files", "packages/b/x.py", "--package-scope"]
    assert main(["rank", "format the tables of a report", *options]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:-1]]
    assert {row[1] for row in rows} == EVERYWHERE | {"b"}
    main(["why", "a", "format the tables of a report", *options])
    assert "it belongs to a package" in capsys.readouterr().out
