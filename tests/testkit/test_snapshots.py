"""Names of git objects are git's own, whatever a repository holds."""

from __future__ import annotations

from hashlib import sha1

from skillyard_testkit.github.git_objects import blob_sha, tree_sha
from skillyard_testkit.github.snapshots import Snapshot

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def test_blobs_are_named_as_git_names_them() -> None:
    assert blob_sha(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert blob_sha(b"Hello World\n") == "557db03de997c86a4a028e1ebd3a1ceb225be238"


def test_trees_are_named_as_git_names_them() -> None:
    assert tree_sha([]) == EMPTY_TREE
    # The two files of git's own core tutorial.
    files = {"hello": b"Hello World\n", "example": b"Silly example\n"}
    assert Snapshot(files, {}, {}).tree_sha == "8988da15d077d4829fc51d8544c097def6644dbb"


def test_entries_stand_in_gits_order_with_folders_among_them() -> None:
    files = {"a.txt": b"1", "a/z": b"2", "a-b": b"3", "a0": b"4"}
    snapshot = Snapshot(files, {"link": "a.txt"}, {"module": EMPTY_TREE})
    assert [(entry.path, entry.mode, entry.type, entry.size) for entry in snapshot.entries] == [
        ("a-b", "100644", "blob", 1),
        ("a.txt", "100644", "blob", 1),
        ("a", "040000", "tree", None),
        ("a/z", "100644", "blob", 1),
        ("a0", "100644", "blob", 1),
        ("link", "120000", "blob", 5),
        ("module", "160000", "commit", None),
    ]
    assert snapshot.content("link") == b"a.txt"
    assert snapshot.content("module") is None
    assert snapshot.content("a") is None


def flattened(tree: object, before: str = "") -> dict[str, bytes]:
    if isinstance(tree, bytes):
        return {before: tree}
    assert isinstance(tree, dict)
    found: dict[str, bytes] = {}
    for name, inner in tree.items():
        found |= flattened(inner, f"{before}/{name}" if before else name)
    return found


def named(tree: object) -> tuple[str, str] | None:
    """The mode and the SHA-1 of a tree, by descent; folders without files are not there."""
    if isinstance(tree, bytes):
        return "100644", sha1(b"blob %d\0" % len(tree) + tree).hexdigest()
    assert isinstance(tree, dict)
    rows = []
    for name, inner in tree.items():
        if (below := named(inner)) is not None:
            mode, sha = below
            sort = name.encode() + (b"/" if mode == "40000" else b"")
            rows.append((sort, f"{mode} {name}".encode() + b"\0" + bytes.fromhex(sha)))
    if not rows:
        return None
    data = b"".join(row for _, row in sorted(rows))
    return "40000", sha1(b"tree %d\0" % len(data) + data).hexdigest()
