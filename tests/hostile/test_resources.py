"""Beside a skill only its own regular files are ever read."""

from __future__ import annotations

from typing import Any

import pytest

from skillyard.errors import ResourceRefused
from skillyard.files import DEFAULT_LIMITS, list_resources, read_resource
from tests.hostile.conftest import Tree
from tests.hostile.hang_bound import assert_helpful, below, load
from tests.hostile.resource_cases import EITHER, READ, REFUSE, REQUESTS, Request
from tests.hostile.watchdog import hang_bound
from tests.tables import for_each


@pytest.fixture
def pencil(hostile_tree: Tree) -> Any:
    """The skill with links, a FIFO and a giant beside it."""
    root = hostile_tree.root("res-01-paths")
    (skill,) = [
        skill for skill in load(root).skills if below(skill.path, root) == "pencil/SKILL.md"
    ]
    return skill


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.word)
def test_each_read_request_gives_the_right_bytes_or_a_refusal(
    request_: Request, pencil: Any, hostile_tree: Tree
) -> None:
    folder = str(hostile_tree.root("res-01-paths") / "pencil")
    path = request_.path.replace("{skill}", folder)
    with hang_bound():
        try:
            data = read_resource(pencil, path)
        except ResourceRefused as error:
            assert request_.verdict in (REFUSE, EITHER)
            assert_helpful(error)
            return
    assert request_.verdict in (READ, EITHER)
    assert data == request_.content


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "/",
        "//etc/passwd",
        "references/..",
        "references/../references/guide.md",
        "....//secret.txt",
        ".. /secret.txt",
        "\u2024\u2024/secret.txt",
        "．．/secret.txt",
        "%252e%252e/secret.txt",
        "..%c0%afsecret.txt",
        "\\\\server\\share",
        "C:\\secret.txt",
        "\\\\?\\C:\\secret.txt",
        "con",
        "nul.txt",
        "references/guide.md::$DATA",
        "references/guide.md\n",
        "references/guide.md\x1b[2J",
        "guide\ud800.md",
        "$HOME/secret.txt",
        "-rf",
        "references/*.md",
        "a" * 100_000,
        "a/" * 50_000,
        "pencil/SKILL.md",
        "http://evil.invalid/x",
    ],
)
def test_more_ways_out_are_refused(path: str, pencil: Any) -> None:
    with hang_bound(), pytest.raises(ResourceRefused):
        read_resource(pencil, path)


def test_the_listing_holds_the_regular_files_and_no_way_out(pencil: Any) -> None:
    with hang_bound():
        paths = [resource.path for resource in list_resources(pencil)]
    assert paths == sorted(paths)
    assert {"references/guide.md", "assets/naïve name.txt", "assets/shared.txt"} <= set(paths)
    assert not {"link-out.md", "endless", "assets/pipe", "SKILL.md"} & set(paths)
    assert not any(path.startswith(("folder-out", "again", "/", "..")) for path in paths)


def test_everything_listed_can_be_read_unless_it_is_too_large(pencil: Any) -> None:
    for resource in list_resources(pencil):
        if resource.size <= DEFAULT_LIMITS.resource_bytes:
            assert len(read_resource(pencil, resource.path)) == resource.size


@for_each("identity", ["fs-24-resources-5000", "fs-23-asset-64g"])
def test_a_listing_is_bounded_and_reads_nothing(identity: str, hostile_tree: Tree) -> None:
    root = hostile_tree.root(identity)
    (skill,) = [skill for skill in load(root).skills if skill.name == "pencil"]
    with hang_bound():
        listed = list_resources(skill)
    assert 1 <= len(listed) <= DEFAULT_LIMITS.resources_listed
