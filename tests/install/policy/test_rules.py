"""Rules of a policy: combining files never allows what one of them refuses; faults name a line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import Skill, SkillIoError
from skillyard.install.copies.lockfile import LockedSkill
from skillyard.install.policy.decision import (
    AdmissionPolicy,
    LockedSource,
    PolicyRefused,
    check_install,
    decide,
    locked_source,
)
from skillyard.install.policy.rules import (
    NO_RULES,
    SEVERITIES,
    CertificateSigner,
    Rules,
    SignerPattern,
    matches_pattern,
    parse_policy,
    stricter,
)
from tests.tables import for_each

PATTERNS = st.sampled_from(
    ["github:acme/*", "github:*", "local:x", "*", "mit", "bash", "read", "a"]
)
LISTS = st.lists(PATTERNS, max_size=3, unique=True).map(lambda found: tuple(sorted(found)))
SETS = st.lists(LISTS, max_size=1).map(tuple)
CHOICES = st.sampled_from(["allow", "deny"])
IDENTITIES = st.sampled_from(
    ["ann@acme", "https://ci/acme/x@refs/tags/v1", "https://ci/acme/x@refs/tags/v2"]
)
SIGNERS = st.builds(
    CertificateSigner, IDENTITIES, st.just("https://id"), st.sampled_from([None, "", "/r"])
)
SIGNER_PATTERNS = st.builds(
    SignerPattern, st.sampled_from(["*", "https://ci/acme/*", "ANN@*"]), st.just("https://*"),
    st.sampled_from(["", "/r"]),
)  # fmt: skip
RULES = st.builds(
    Rules, SETS, CHOICES, st.booleans(), st.sampled_from(SEVERITIES), SETS, CHOICES, LISTS, LISTS,
    LISTS, st.lists(st.tuples(SIGNER_PATTERNS), max_size=1).map(tuple), st.booleans(), SETS,
)  # fmt: skip
SKILLS = st.builds(
    Skill,
    st.sampled_from(["a", "b"]),
    st.just("Does it."),
    st.just("x"),
    license=st.sampled_from([None, "MIT", "GPL-3.0"]),
    allowed_tools=st.sampled_from([(), ("Bash(git:*)",), ("Read", "Write"), ("*",)]),
    tags=st.sampled_from([(), ("a",), ("Read", "mit")]),
)
SOURCES = st.none() | st.builds(
    LockedSource, st.just("a"), st.sampled_from(["github:acme/x", "local:x"]), st.booleans(),
    st.none() | SIGNERS,
)  # fmt: skip


def rules_of(text: str, path: str = "p.toml") -> Rules:
    return parse_policy(text.encode(), path)


@given(RULES, RULES, SKILLS, SOURCES)
def test_two_policies_refuse_exactly_what_either_refuses(
    one: Rules, other: Rules, skill: Skill, source: LockedSource | None
) -> None:
    both = {each.rule for each in decide(stricter(one, other), skill, source)}
    either = {each.rule for rules in (one, other) for each in decide(rules, skill, source)}
    assert both == either


@given(RULES, RULES, SKILLS, st.sampled_from(SEVERITIES), st.none() | SIGNERS, st.none() | SIGNERS)
def test_two_policies_install_only_what_both_install(
    one: Rules,
    other: Rules,
    skill: Skill,
    severity: str,
    signer: CertificateSigner | None,
    before: CertificateSigner | None,
) -> None:
    source = LockedSource("a", "github:acme/x", True, signer)

    def installs(rules: Rules) -> bool:
        try:
            check_install(AdmissionPolicy(rules), skill, source, [severity], before)
        except PolicyRefused:
            return False
        return True

    assert installs(stricter(one, other)) == (installs(one) and installs(other))


def test_a_rule_names_the_file_that_is_the_stricter() -> None:
    lax = rules_of('[sources]\nunlocked = "allow"\n[scan]\nmax_severity = "high"\n', "lax")
    strict = rules_of('[sources]\nunlocked = "deny"\n[scan]\nmax_severity = "low"\n', "strict")
    for rules in (stricter(lax, strict), stricter(strict, lax)):
        assert rules.where == {"sources.unlocked": "strict", "scan.max_severity": "strict"}


@for_each(
    ("text", "line", "says"),
    [
        (b"[tools]\ndenied = 'Bash'\n", 2, "must be a list of texts"),
        (b"[tools]\ndenied = [1]\n", 2, "must be a text in quotes"),
        (b"[tools]\n\ndenies = []\n", 3, "there is no key tools.denies"),
        (b"[tool]\n", 1, "there is no key tool"),
        (b"denied = []\n", 1, "there is no key denied"),
        (b"[pins]\nrequired = 1\n", 2, "true or false"),
        (b"[scan]\nmax_severity = 'critical'\n", 2, "none, low, medium or high"),
        (b"[signatures]\nrequired = 'yes'\n", 2, "true or false or a list"),
        (b"[signatures]\nrequired = ['']\n", 2, "is empty"),
        (b"[signatures]\nsame_signer = 1\n", 2, "true or false"),
        (b"[signatures]\nsigners = []\n", 2, "there is no key signatures.signers"),
        (b"[signatures]\ntrust_root = ''\n", 2, "the path of a file"),
        (b"[signatures]\ntrust_root = '//host/share/root.json'\n", 2, "another machine"),
        (b"[signatures]\nidentity = []\n", 2, "1 to 256 tables"),
        (b"[signatures]\nidentity = ['ann@acme']\n", 2, "must be a table"),
        (b"[signatures]\nidentity = [{identity = 'ann@acme'}]\n", 2, "must have issuer"),
        (b"[signatures]\nidentity = [{identity = 'a', issuer = 'b', c = 1}]\n", 2, "identity.c"),
        (b"[sources]\nunlocked = {a = 1}\n", 2, "must be allow or deny"),
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
        parse_policy(text, "p.toml")
    error = caught.value
    assert (error.path, error.code) == ("p.toml", "policy_invalid")
    assert says in error.message
    assert "\x1b" not in error.message
    assert error.hint
    assert line is None or error.line == line


@for_each(
    ("pattern", "text", "matches"),
    [
        ("github:acme/*", "github:acme/x", True),
        ("github:acme/?", "github:acme/x", False),
        ("a[bc]d", "abd", False),
        ("a[bc]d", "a[bc]d", True),
        ("dependabot[bot]@*", "dependabot[bot]@users.noreply.github.com", True),
        ("dependabot[bot]@*", "dependabotb@users.noreply.github.com", False),
    ],
)
def test_only_an_asterisk_stands_for_other_text(pattern: str, text: str, matches: bool) -> None:
    assert matches_pattern(text, pattern) is matches


@for_each(
    ("source", "text"),
    [
        ("./good/x", "local:./good/x"),
        ("./good/../other/x", "local:./other/x"),
        ("./../x", "local:../x"),
        ("/a/../b", "local:/b"),
    ],
)
def test_a_folder_is_compared_without_steps_upwards(source: str, text: str) -> None:
    assert locked_source(LockedSkill("x", source, "local"), None).source == text


SIGNED = b"""
[signatures]
required = ["GitHub:acme/*"]
identity = [{ identity = "https://ci/*", issuer = "https://id" }, { identity = "*", issuer = "x" }]
trust_root = "roots/root.json"
"""


def test_the_rules_of_signatures_are_read_and_shown(tmp_path: Path) -> None:
    root = str(tmp_path / "roots" / "root.json")
    rules = parse_policy(SIGNED, str(tmp_path / "p.toml"))
    assert rules.signed_sources == ("github:acme/*",)
    assert rules.signers == (
        (SignerPattern("*", "x", root), SignerPattern("https://ci/*", "https://id", root)),
    )
    assert (rules.trust_roots, NO_RULES.trust_roots) == ((root,), ("",))
    assert {key: rules.value(key) for key in rules.where} == {
        "signatures.required": "github:acme/*",
        "signatures.identity": "* (x), https://ci/* (https://id)",
        "signatures.trust_root": root,
    }
    everything = parse_policy(b"[signatures]\nrequired = true\n", "p.toml")
    assert everything.value("signatures.required") == "true"
    both = stricter(everything, rules)
    assert (both.trust_roots, both.checks_signatures) == ((root,), True)
    assert not parse_policy(b"[signatures]\nrequired = false\n", "p.toml").checks_signatures


def test_a_trust_root_of_another_file_does_not_widen_who_is_accepted() -> None:
    """A project cannot bring its own authority for the identities that the machine accepts."""
    machine = parse_policy(
        b'[signatures]\nidentity = [{ identity = "ann@acme", issuer = "*" }]\n', "/etc/p.toml"
    )
    project = parse_policy(b'[signatures]\ntrust_root = "mine.json"\n', "/project/p.toml")
    source = LockedSource(
        "a", "local:x", True, CertificateSigner("ann@acme", "i", "/project/mine.json")
    )
    (refusal,) = decide(stricter(project, machine), Skill("a", "Does it.", "x"), source)
    assert refusal.rule == "signatures.identity"


@for_each(
    ("one", "other", "same"),
    [
        ("https://ci/x@refs/tags/v1", "https://ci/x@refs/heads/main", True),
        ("https://ci/x@refs/tags/v1", "https://ci/y@refs/tags/v1", False),
        ("ann@refs/x", "ann@refs/y", False),
        ("ann@acme", "ann@acme", True),
    ],
)
def test_releases_of_one_workflow_have_one_author(one: str, other: str, same: bool) -> None:
    assert (CertificateSigner(one, "i").author == CertificateSigner(other, "i").author) is same
    assert CertificateSigner(one, "i").author != CertificateSigner(one, "j").author
