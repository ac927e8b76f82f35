"""The limits for untrusted input, each with its reason.

The figures were measured on 14,812 distinct real SKILL.md files. Each limit is far above the
largest real value and far below what causes problems.
"""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """Limits applied while reading. Override with ``DEFAULT_LIMITS._replace(...)``.

    Sizes are bytes, lengths are Unicode code points, counts are items.
    """

    skill_file_bytes: int = 1_048_576
    """One SKILL.md. The largest real one has 294,426 bytes; 99.9 % have under 62,485."""
    frontmatter_bytes: int = 16_384
    """One frontmatter block. The largest real one has 3,786 bytes."""
    yaml_depth: int = 16
    """Nesting in frontmatter. The deepest real one has 8 levels."""
    yaml_nodes: int = 2_000
    """Nodes in one frontmatter; bounds the work of the YAML guard."""
    yaml_keys: int = 200
    """Keys of one mapping. The most in a real file is 27."""
    name_warn_chars: int = 64
    """Length that agentskills.io allows for a name. No real name is longer."""
    name_chars: int = 256
    """Longest name that loads."""
    description_warn_chars: int = 1_024
    """Length that agentskills.io allows for a description. Nine real files exceed it."""
    description_chars: int = 4_096
    """Longest description that loads. The longest real one has 1,929."""
    field_chars: int = 4_096
    """Longest text of any other frontmatter field or list item."""
    list_items: int = 500
    """Items of one frontmatter list."""
    resources_listed: int = 1_000
    """Files listed per skill. One real skill has 1,104; 99.9 % have under 83."""
    resource_bytes: int = 1_048_576
    """One resource file read on request."""
    tree_depth: int = 16
    """Folders below a root. The deepest real tree has 12."""
    folders_walked: int = 100_000
    """Folders visited in one scan."""
    glob_chars: int = 512
    """Length of one file pattern."""
    brace_expansions: int = 64
    """Alternatives that the braces of one pattern may produce."""
    patterns_per_skill: int = 200
    """File patterns of one skill; with the two above, bounds the work per path."""
    script_seconds: float = 60.0
    """Wall time of one explicitly run script."""
    script_output_bytes: int = 1_048_576
    """Output of one explicitly run script; the rest is dropped, which the result says."""


DEFAULT_LIMITS = Limits()
