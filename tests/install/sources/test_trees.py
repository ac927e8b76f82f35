"""The parsed tree of a repository: what lies below a folder, and that it is shared safely."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillyard.install.sources.github import RepositoryTree, _tree
from skillyard.install.sources.repository import (
    files_beside,
    reference_paths,
    skill_folder,
)
from tests.install.sources.clients import skill_path

PART = st.sampled_from(
    ["a", "b", "a-b", "a.b", "a/b", "a0", "SKILL.md", "docs", "x.md", "é", "skills"]
)
PATHS = st.lists(st.lists(PART, min_size=1, max_size=4).map("/".join), max_size=30)


def tree_of(paths: list[str]) -> RepositoryTree:
    listed = [{"path": path, "type": "blob", "mode": "100644", "size": 1} for path in paths]
    return _tree({"tree": listed})


@given(PATHS, PART)
def test_what_lies_below_a_folder_is_what_begins_with_it(paths: list[str], folder: str) -> None:
    tree = tree_of(paths)
    assert dict(tree.below(folder)) == {path: 1 for path in paths if path.startswith(f"{folder}/")}
    assert dict(tree.below("")) == dict(tree.blobs) == dict.fromkeys(paths, 1)


@given(PATHS, PART)
def test_a_part_of_the_tree_gives_what_the_whole_gives(paths: list[str], name: str) -> None:
    tree = tree_of(paths)
    found = skill_folder(tree.folders, "acme/skills", name)
    assert found == skill_path(paths, "acme/skills", name)
    for folder in tree.folders:
        part = tree.below(folder)
        assert files_beside(part, folder) == files_beside(tree.blobs, folder)
        assert reference_paths(part, folder) == reference_paths(tree.blobs, folder)
