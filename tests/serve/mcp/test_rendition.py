"""Every entry of the Skills extension conforms, and its file says what the entry says."""

from __future__ import annotations

import json
from typing import Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from skillyard.engine.formats.frontmatter import decode, split, unify_lines
from skillyard.serve.mcp.manifests import Unserved, conforming
from tests.property.strategies import blocks, hostile_text, many
from tests.requirements import requirement

PATH = "a/SKILL.md"
FIELDS = ["license", "compatibility", "metadata", "allowed-tools", "name", "tags", "Odd key", "yes"]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | hostile_text | st.text(max_size=600),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
    ),
    max_leaves=8,
)
typed_blocks = st.dictionaries(st.sampled_from(FIELDS), values, max_size=6).map(
    lambda fields: yaml.safe_dump(fields, allow_unicode=True) if fields else ""
)


def faults(frontmatter: dict[str, Any]) -> list[str]:
    """Return the fields that are not as agentskills.io describes them, without our own code."""
    texts = ("license", "allowed-tools", "compatibility")
    found = [key for key in texts if not isinstance(frontmatter.get(key, ""), str)]
    if not 1 <= len(str(frontmatter.get("compatibility", "x"))) <= 500:
        found.append("compatibility")
    metadata = frontmatter.get("metadata", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        found.append("metadata")
    return found


def document(block: str) -> bytes:
    return f"---\n{block}---\n\nThe body: *kept*.\n".encode("utf-8", "surrogatepass")


@requirement("client:fastmcp")
@many
@given(typed_blocks | typed_blocks | blocks)
@example("license: null\nname: 1.0e-09\n")
def test_whatever_the_frontmatter_is_what_is_served_conforms(block: str) -> None:
    data = document(block)
    try:
        served, frontmatter = conforming(data, PATH)
    except Unserved:
        return
    assert faults(frontmatter) == []
    json.dumps(frontmatter, allow_nan=False, ensure_ascii=False).encode()
    before, after = (split(unify_lines(decode(each, PATH)), PATH) for each in (data, served))
    assert after.body == before.body
    assert conforming(served, PATH) == (served, frontmatter)  # it needs no further change
