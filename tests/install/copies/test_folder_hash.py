"""A folder's hash is the installer's: a lock that one of the two wrote means the same to both."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from skillyard.base.io.folder_manifest import manifest_of
from skillyard.install.copies import folder_hash as module
from skillyard.install.copies.folder_hash import (
    folder_hash,
    is_folder_hash_of,
    is_tree_of,
    tree_hash,
)
from skillyard.install.copies.installed import LIMITS, Installed
from tests.install.copies.asking_node import Questions, stored
from tests.install.git.servers import git
from tests.parity.trees import write_tree


def hash_is(expected: str, folder: str) -> bool:
    return is_folder_hash_of(expected, folder, manifest_of(folder, LIMITS))


def in_order(left: str, right: str) -> int:
    first, second = (module._order(text)[:2] for text in (left, right))
    return (first > second) - (first < second)


def compare(asked: Questions, answers: Questions) -> None:
    for tree, said in zip(asked["hash"], answers["hash"], strict=True):
        assert folder_hash({path: bytes.fromhex(digits) for path, digits in tree}) == said


def test_stored_trees_hash_as_in_node() -> None:
    asked, answers = stored()
    assert len(set(answers["hash"])) > 15
    compare(asked, answers)
    assert len(asked["compare"]) > 11_000
    for (left, right), said in zip(asked["compare"], answers["compare"], strict=True):
        assert in_order(left, right) == said, (left, right)


def put(folder: Path, files: dict[str, bytes]) -> str:
    return str(write_tree(folder, files))


def test_a_file_that_grows_while_its_folder_is_hashed_is_an_edit(tmp_path: Path) -> None:
    folder = put(tmp_path, {"SKILL.md": b""})
    seen = manifest_of(folder, LIMITS)
    put(tmp_path, {"SKILL.md": b"what I wrote"})
    for expected in (folder_hash({"SKILL.md": b"s"}), tree_hash({"SKILL.md": b"s"})):
        assert not Installed(expected).is_at(seen, folder)


def test_a_name_that_is_not_ascii_is_compared_with_no_hash(tmp_path: Path) -> None:
    files = {"SKILL.md": b"s", "\u00e9.md": b"e"}
    assert not hash_is(folder_hash(files), put(tmp_path, files))


def test_a_link_is_not_followed_and_does_not_count(tmp_path: Path) -> None:
    outside = put(tmp_path / "outside", {"secret": b"secret"})
    folder = tmp_path / "skill"
    before = folder_hash({"SKILL.md": b"s"})
    put(folder, {"SKILL.md": b"s"})
    (folder / "file").symlink_to(os.path.join(outside, "secret"))
    (folder / "folder").symlink_to(outside)
    (folder / "round").symlink_to(folder)
    (folder / "nowhere").symlink_to("nothing")
    assert hash_is(before, str(folder))


def test_a_backslash_in_a_name_is_hashed_as_the_installer_hashes_it(tmp_path: Path) -> None:
    folder = put(tmp_path, {"a\\b": b"1"})
    assert folder_hash({"a\\b": b"1"}) == hashlib.sha256(b"a/b1").hexdigest()
    assert hash_is(folder_hash({"a\\b": b"1"}), folder)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_hash_of_a_tree_is_that_of_git(tmp_path: Path) -> None:
    files = {
        "SKILL.md": b"---\n",
        "a.b": b"",
        "a/run.sh": b"#!/bin/sh\n",
        "a/z/\u00e9.md": b"\0\xff",
        "ab": b"x" * 70_000,
    }
    for path, data in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    (tmp_path / "a" / "run.sh").chmod(0o755)
    git("init", "-q", folder=tmp_path)
    git("add", ".", folder=tmp_path)
    tree = git("write-tree", folder=tmp_path)
    there = manifest_of(str(tmp_path), LIMITS)
    assert is_tree_of(tree, str(tmp_path), there)
    if os.name == "posix":
        assert tree_hash(files, {"a/run.sh"}) == tree
        assert tree_hash(files) != tree
    (tmp_path / "a" / "run.sh").chmod(0o644)  # as after an installer that does not know
    there = manifest_of(str(tmp_path), LIMITS)
    assert is_tree_of(tree, str(tmp_path), there)
    (tmp_path / "a" / "z" / "\u00e9.md").write_bytes(b"\0")
    assert not is_tree_of(tree, str(tmp_path), there)
