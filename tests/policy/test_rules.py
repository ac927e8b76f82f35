"""Rules of a policy: combining files never allows what one of them refuses; faults name a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import SkillIoError
from skillyard.policy.decision import LockedSource, Policy, PolicyRefused, check_install, decide
from skillyard.policy.rules import NO_RULES, SEVERITIES, Rules, parse_rules, stricter
from skillyard.skill import Skill
from tests.tables import for_each

PATTERNS = st.sampled_from(
    ["github:acme/*", "github:*", "local:x", "*", "mit", "bash", "read", "a"]
)
LISTS = st.lists(PATTERNS, max_size=3, unique=True).map(lambda found: tuple(sorted(found)))
SETS = st.lists(LISTS, max_size=1).map(tuple)
CHOICES = st.sampled_from(["allow", "deny"])
RULES = st.builds(
    Rules, SETS, CHOICES, st.booleans(), st.sampled_from(SEVERITIES), SETS, CHOICES, LISTS, LISTS
)
SKILLS = st.builds(
    Skill,
    st.sampled_from(["a", "b"]),
    st.just("Does it."),
    st.just("x"),
    license=st.sampled_from([None, "MIT", "GPL-3.0"]),
    allowed_tools=st.sampled_from([(), ("Bash(git:*)",), ("Read", "Write"), ("*",)]),
)
SOURCES = st.none() | st.builds(
    LockedSource, st.just("a"), st.sampled_from(["github:acme/x", "local:x"]), st.booleans()
)


@given(RULES, RULES, SKILLS, SOURCES)
def test_two_policies_refuse_exactly_what_either_refuses(
    one: Rules, other: Rules, skill: Skill, source: LockedSource | None
) -> None:
    both = {each.rule for each in decide(stricter(one, other), skill, source)}
    either = {each.rule for rules in (one, other) for each in decide(rules, skill, source)}
    assert both == either


@given(RULES, RULES, SKILLS, st.sampled_from(SEVERITIES))
def test_two_policies_install_only_what_both_install(
    one: Rules, other: Rules, skill: Skill, severity: str
) -> None:
    source = LockedSource("a", "github:acme/x", True)

    def installs(rules: Rules) -> bool:
        try:
            check_install(Policy(rules), skill, source, [severity])
        except PolicyRefused:
            return False
        return True

    assert installs(stricter(one, other)) == (installs(one) and installs(other))


@given(RULES, RULES)
def test_the_order_of_two_policies_does_not_matter(one: Rules, other: Rules) -> None:
    assert stricter(one, other) == stricter(other, one)
    assert stricter(one, NO_RULES) == one == stricter(one, one)


def test_a_rule_names_the_file_that_is_the_stricter() -> None:
    lax = parse_rules(b'[sources]\nunlocked = "allow"\n[scan]\nmax_severity = "high"\n', "lax")
    strict = parse_rules(b'[sources]\nunlocked = "deny"\n[scan]\nmax_severity = "low"\n', "strict")
    for rules in (stricter(lax, strict), stricter(strict, lax)):
        assert rules.where == {"sources.unlocked": "strict", "scan.max_severity": "strict"}


@for_each(
    ("text", "line", "says"),
    [
        (b"[tools]\ndenied = 'Bash'\n", 2, "must be a list of texts"),
        (b"[tools]\ndenied = [1]\n", 2, "must be a list of texts"),
        (b"[tools]\n\ndenies = []\n", 3, "there is no rule tools.denies"),
        (b"[tool]\n", 1, "there is no rule tool"),
        (b"denied = []\n", 1, "there is no rule denied"),
        (b"[pins]\nrequired = 1\n", 2, "true or false"),
        (b"[scan]\nmax_severity = 'critical'\n", 2, "not known"),
        (b"[sources]\nunlocked = {a = 1}\n", 2, "not known"),
        (b"[tools]\ndenied = [\n", None, "not TOML"),
        (b"[tools]\n[tools]\n", 2, "not TOML"),
        (b"[tools]\ndenied = ['\xff']\n", 2, "not UTF-8"),
        (b"x = " + b"[" * 50_000, None, "not TOML"),
        (b'"\x1b[31m" = 1\n', None, ""),
    ],
)
def test_a_fault_names_the_file_the_line_and_what_to_do(
    text: bytes, line: int | None, says: str
) -> None:
    with pytest.raises(SkillIoError) as caught:
        parse_rules(text, "p.toml")
    error = caught.value
    assert (error.path, error.code) == ("p.toml", "policy_invalid")
    assert says in error.message
    assert "\x1b" not in error.message
    assert error.hint
    assert line is None or error.line == line


def test_a_tool_is_denied_with_and_without_its_arguments() -> None:
    rules = Rules(denied_tools=("bash", "mcp__*"))

    def refused(*tools: str) -> bool:
        return bool(decide(rules, Skill("a", "Does it.", "x", allowed_tools=tools), None))

    assert refused("Bash(git:*)")
    assert refused("Read", "MCP__mail")
    assert refused("*")
    assert not refused("Read", "BashOutput")
