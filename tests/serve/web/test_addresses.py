"""Addresses lead where they say, and a copied command runs nothing but what it shows."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from skillyard.install.sources.protocol import Hit
from skillyard.serve.web.addresses import install_line
from tests.tables import for_each

names = st.text(min_size=1, max_size=30)


@for_each(
    ("source", "skill_id", "line"),
    [
        ("acme/skills", "pdf", "skillyard add acme/skills/pdf"),
        ("docs.example", "pdf", "skillyard add 'https://docs.example#pdf'"),
        ("local", "pdf", ""),
        ("acme/skills", "a b", "skillyard add 'acme/skills/a b'"),
        ("acme/skills", "a\u202eb", ""),
        ("acme/skills", "a\nb", ""),
        ("acme/skills", "..", ""),
        ("acme/skills", "a/b", ""),
        ("not a source", "a", ""),
        ("acme/skills/x", "a", ""),
    ],
)
def test_the_install_line_is_the_command_for_it(source: str, skill_id: str, line: str) -> None:
    assert install_line(Hit(source, skill_id, "x")) == line


@given(names | st.sampled_from(["$(reboot)", "`reboot`", "a;reboot", "a' b", "-rf", "a|b", "&& x"]))
def test_no_id_can_put_a_second_word_or_command_into_the_line(skill_id: str) -> None:
    line = install_line(Hit("acme/skills", skill_id, "x"))
    assert not line or shlex.split(line) == ["skillyard", "add", f"acme/skills/{skill_id}"]
