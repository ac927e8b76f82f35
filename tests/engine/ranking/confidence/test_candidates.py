"""Skills arrive as values, as a catalog or as the document's plain maps."""

from __future__ import annotations

from typing import Any

import pytest

from skillyard import Triggers
from skillyard.engine.ranking.confidence.records import as_skills
from skillyard.errors import InvalidInput
from tests.tables import for_each


def test_a_plain_map_becomes_a_skill() -> None:
    (one,) = as_skills(
        {
            "react": {
                "name": "react-testing",
                "description": "React component testing",
                "keywords": ["test"],
                "tags": ["testing"],
                "triggers": {"files": ["*.test.tsx"], "keywords": ["jest"]},
            }
        }
    )
    assert (one.name, one.description) == ("react-testing", "React component testing")
    assert (one.keywords, one.tags) == (("test",), ("testing",))
    assert one.triggers == Triggers(("*.test.tsx",), ("jest",))


@for_each(
    ("given", "named"),
    [
        ("skills", "skills"),
        (None, "skills"),
        (["name"], "skills"),
        ([{"description": "nameless"}], "name"),
        ([{"name": 1}], "name"),
        ([{"name": "a", "keywords": "test"}], "keywords"),
        ({"a": {"triggers": {"files": "*.ts"}}}, "files"),
    ],
)
def test_anything_else_is_refused_by_name(given: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        as_skills(given)
