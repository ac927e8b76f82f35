"""Links, comments and named paths of a body: found in the text, not in its code."""

from __future__ import annotations

from skillyard.check.validation.view import comments, links, named_paths
from tests.tables import for_each


@for_each(
    ("line", "targets"),
    [
        ("[a](b.md)", ["b.md"]),
        ("![a](img/b.png 'title') and [c](<d e.md>)", ["img/b.png"]),
        ("[a](b_(c).md)", ["b_(c).md"]),
        ("[a](b%20c.md)", ["b c.md"]),
        ("[a](b.md#part) [a](#part) [a](?x)", ["b.md"]),
        ("[a](https://x.org/y.md) [a](mailto:x@y.z) [a](//x.org/y)", []),
        ("[a](file:///etc/passwd)", ["file:///etc/passwd"]),
        ("[a]({name}.md) [a](<name>.md) [a](*.md) [a](...)", ["name"]),
        ("`[a](b.md)` ``[a](c.md)`` [a](d.md)", ["d.md"]),
        ("a ` b [a](c.md)", ["c.md"]),
        ("[a](", []),
        ("[a]()", []),
        ("[a](" + "x" * 600 + ")", []),
    ],
)
def test_links_to_files_are_found(line: str, targets: list[str]) -> None:
    assert [place.text for place in links(line)] == targets


def test_fences_hide_what_they_hold_and_only_that() -> None:
    body = (
        "````\n```\n[a](1)\n````\n[a](2)\n~~~ py\n```\n[a](3)\n"
        "~~~~\n[a](4)\n```a`\n[a](5)\n``` \n[a](6)"
    )
    assert [(place.text, place.line) for place in links(body)] == [("2", 4), ("4", 9), ("5", 11)]


def test_comments_are_found_by_line_outside_code() -> None:
    assert comments("a\n<!-- b -->\n`<!--`\n```\n<!--\n```\n<!--") == [1, 6]
    assert comments("no comment") == []


def test_paths_are_taken_where_they_stand_alone() -> None:
    body = (
        "Run `scripts/a.py`,\nnot x/scripts/b.py nor scripts/*.py or scripts/<c>.py.\n"
        "(see references/d.md)."
    )
    found = [(place.text, place.line) for place in named_paths(body)]
    assert found == [("scripts/a.py", 0), ("references/d.md", 2)]
    assert [place.text for place in named_paths("scripts/a scripts/b.d/ assets/c.png.")] == [
        "assets/c.png"
    ]
