"""Any bytes at any place give findings, never another exception."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import skillyard as sy
from skillyard.base.invisible import find_hidden
from skillyard.check.validation import PROFILES, report
from tests.check.validation.skill_files import text, tree
from tests.property.strategies import many

_PIECES = st.sampled_from(
    [
        *(
            "---\n",
            "name: a\n",
            "description: b\n",
            "name: [",
            "]\n",
            "{",
            "}",
            ": ",
            "- x\n",
            "\t",
        ),
        *("triggers:\n  files: ['**']\n", "metadata:\n  a: 1\n", "references: [../x]\n", "\r\n"),
        *("<!--", "](", ")", "`", "```\n", "[a](b.md)", "&a ", "*a", "!!int ", "\ufeff", "\u2028"),
        *("\x00", "\x1b[2J", "\ud7ff", "é", "名", "compatibility:\n", "allowed-tools: a, b\n"),
    ]
)
_PLACES = ("pencil/SKILL.md", ".skills/pencil.md", "key_skills/p/SKILL.md", "AGENTS.md", "skill.md")


def _check(content: bytes, place: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = tree(Path(name), {place: content, "canary/SKILL.md": text("canary", "Sings.")})
        for profile in PROFILES:
            for path in (root, root / place):
                found = sy.validate(path, profile)
                assert found == sy.validate(path, profile)
                for each in found:
                    assert all((each.code, each.message, each.hint, each.path))
                    assert find_hidden(each.message + each.hint) is None
                report.as_sarif(found)
                report.as_github(found)


@given(st.binary(max_size=200), st.sampled_from(_PLACES))
def test_bytes_of_any_kind_give_findings(content: bytes, place: str) -> None:
    _check(content, place)


@many
@given(st.lists(_PIECES, max_size=25), st.sampled_from(_PLACES), st.booleans())
def test_pieces_of_skill_files_in_any_order_give_findings(
    pieces: list[str], place: str, fenced: bool
) -> None:
    content = "".join(pieces)
    if fenced:
        content = f"---\nname: a\ndescription: b\n{content}"
    _check(content.encode("utf-8"), place)
