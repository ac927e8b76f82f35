"""Phrases that a description quotes or lists, and requests that hold them."""

from __future__ import annotations

import skillyard as sy
from tests.tables import for_each


@for_each(
    "description,request_text,words",
    [
        ('Use for "create a branch".', "create the new branch, please", "create the new branch"),
        ("Triggers: clean up code, simplify this.", "cleaning up the code", "cleaning up the code"),
        ("Sagt man „Rechnung stornieren“, dies.", "Rechnung 7 stornieren", "Rechnung 7 stornieren"),
        ("当用户说“写种草文案”时使用。", "帮我写一个种草文案", "写一个种草文案"),
        ('Use for "what\'s new".', "what's new in May", "what's new"),
        ('Use for "create a branch".', "a branch that they create", ""),
        ('Use for "create a branch".', "create one fine day the branch", ""),
        ('Use for "how do I".', "how do I cook rice", ""),
        ('Use for "branch".', "a branch", ""),
    ],
)
def test_a_request_holds_a_phrase(description: str, request_text: str, words: str) -> None:
    skills = [sy.Skill("ours", description, "text"), sy.Skill("other", "Writes poems.", "text")]
    catalog = sy.Catalog.from_skills(skills)
    reasons = [m.reason for m in sy.rank(catalog, request_text) if m.skill.name == "ours"]
    assert (f"phrase: {words}" in "".join(reasons)) if words else ("phrase" not in str(reasons))


def test_a_skill_that_is_called_by_name_goes_before_one_whose_phrase_is_written() -> None:
    quoting = sy.Skill("branches", 'Use for "create a branch".', "text")
    catalog = sy.Catalog.from_skills([quoting, sy.Skill("notes", "Writes notes.", "text")])
    assert sy.select(catalog, "@notes create a branch").selected[0].skill.name == "notes"
