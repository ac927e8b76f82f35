"""What a query may hold, and when it calls a skill by name."""

from __future__ import annotations

from typing import Any

import pytest

import skillyard as sy
from skillyard.engine.ranking.query import invokes
from tests.tables import for_each
from tests.worked_examples.making import skill


@for_each(
    ("query", "empty"),
    [
        (sy.Query(), True),
        (sy.Query(" \n\t"), True),
        (sy.Query(recent_activity=("x",)), True),
        (sy.Query(include_tags=("x",)), True),
        (sy.Query("x"), False),
        (sy.Query(files=("x",)), False),
    ],
)
def test_a_query_is_empty_without_text_and_files(query: sy.Query, empty: bool) -> None:
    assert query.empty is empty


@for_each(
    ("fields", "named"),
    [
        ({"text": None}, "text must be a string, not NoneType"),
        ({"text": b"x"}, "text must be a string, not bytes"),
        ({"files": "a.py"}, "files must be a list of strings, not str"),
        ({"files": b"a.py"}, "files must be a list of strings, not bytes"),
        ({"files": 5}, "files must be a list of strings, not int"),
        ({"recent_activity": ["a", 5]}, "recent_activity must hold strings, not int"),
        ({"include_tags": "ops"}, "include_tags must be a list"),
        ({"exclude_tags": [None]}, "exclude_tags must hold strings"),
    ],
)
def test_a_wrong_type_is_refused_by_name(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(sy.errors.InvalidInput, match=named):
        sy.Query(**fields)


class TestInvokes:
    @for_each(
        "text",
        [
            "@deploy-app",
            "/deploy-app now",
            "please @Deploy-App, and then",
            "run (/deploy-app)",
            "say '@deploy-app'",
            "a\n@deploy-app\tb",
            "@deploy-app!",
            "[@deploy-app]",
            "me@deploy-app then @deploy-app",
            "@own now",
        ],
    )
    def test_a_sign_before_the_name_or_slug_calls_a_skill(self, text: str) -> None:
        assert invokes(text, skill("deploy-app", slug="own"))

    @for_each(
        "text",
        [
            "deploy-app",
            "@deploy-apps",
            "@deploy",
            "me@deploy-app",
            "src/deploy-app",
            "@@deploy-app",
            "http://x/deploy-app",
            "@deploy-app-2",
            "@ deploy-app",
            "",
        ],
    )
    def test_a_path_an_address_or_a_longer_name_calls_nothing(self, text: str) -> None:
        assert not invokes(text, skill("deploy-app"))
