"""One document in, one skill out: every field, strictly and leniently."""

from __future__ import annotations

import pytest

import skillyard as sy
from skillyard.engine.formats.agentskills import (
    ParsedDocument,
    SkillText,
    parse_document,
    split_tools,
)
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import document


def lenient(extra: str, *, folder: str | None = None) -> ParsedDocument:
    where = SkillText("a/SKILL.md", folder)
    return parse_document(where, document("acct", extra=extra), strict=False)


def codes(parsed: ParsedDocument) -> list[tuple[str, str, int | None]]:
    return [(found.code, found.severity, found.line) for found in parsed.diagnostics]


class TestFields:
    def test_every_field_of_every_document_is_read(self) -> None:
        skill = lenient(
            "title: T\nversion: 1.10\nlicense: MIT\ncompatibility: any\nhint: h\n"
            "tags: [a, b]\nkeywords: [c]\ninputs: in\noutputs: [o]\nsafety_notes: [s]\n"
            "references: [r.md]\nallowed-tools: Bash(git add:*) Read\n"
            "triggers: {files: ['*.py'], keywords: [k], phrases: [do it]}\n"
            "trigger: true\npriority: 5\nuser-invocable: false\n"
            "disable-model-invocation: true\nmetadata: {n: 1}\nid: acct-id\nunknown: x\n"
        ).skill
        assert (skill.title, skill.version, skill.license) == ("T", "1.10", "MIT")
        assert (skill.compatibility, skill.hint, skill.slug) == ("any", "h", "acct-id")
        assert (skill.tags, skill.keywords) == (("a", "b"), ("c",))
        assert (skill.inputs, skill.outputs, skill.safety_notes) == (("in",), ("o",), ("s",))
        assert skill.declared_references == ("r.md",)
        assert skill.allowed_tools == ("Bash(git add:*)", "Read")
        assert skill.triggers == sy.Triggers(("*.py",), ("k",), ("do it",))
        assert (skill.trigger, skill.priority, skill.user_invocable) == (True, 5, False)
        assert (skill.disable_model_invocation, dict(skill.metadata)) == (True, {"n": 1})

    @for_each(
        ("extra", "hint"),
        [("argument-hint: a\n", "a"), ("hint: h\nargument-hint: a\n", "h"), ("hint: ~\n", None)],
    )
    def test_the_hint_has_a_second_name(self, extra: str, hint: str | None) -> None:
        assert lenient(extra).skill.hint == hint

    @for_each(
        ("value", "user_invocable"),
        [("true", True), ("false", False), ("no", False), ("'false'", False), ("maybe", True)],
    )
    def test_a_skill_that_says_no_to_users_is_not_offered_to_them(
        self, value: str, user_invocable: bool
    ) -> None:
        assert lenient(f"user-invocable: {value}\n").skill.user_invocable is user_invocable


class TestTools:
    @for_each(
        ("text", "tools"),
        [
            ("", []),
            ("Read", ["Read"]),
            ("Bash(git add:*) Read, Write", ["Bash(git add:*)", "Read", "Write"]),
            ("Bash(a (b, c) d),  Read", ["Bash(a (b, c) d)", "Read"]),
            ("a) b", ["a)", "b"]),
            ("Bash(never closed, Read", ["Bash(never closed, Read"]),
            (" , ,", []),
        ],
    )
    def test_tools_are_split_outside_their_parentheses(self, text: str, tools: list[str]) -> None:
        assert split_tools(text) == tools

    def test_the_spelling_with_an_underscore_is_taken_with_a_warning(self) -> None:
        parsed = lenient("allowed_tools: [Read, Write]\n")
        assert parsed.skill.allowed_tools == ("Read", "Write")
        assert codes(parsed) == [("field_alias", "warning", 4)]


class TestTriggers:
    @requirement("parsing:trigger-phrases")
    @for_each(
        ("extra", "triggers"),
        [
            ("triggers: [a, b]\n", sy.Triggers(phrases=("a", "b"))),
            ("triggers: one phrase\n", sy.Triggers(phrases=("one phrase",))),
            ("triggers: 5\n", sy.Triggers(phrases=("5",))),
            ("triggers: {}\n", sy.Triggers()),
            ("triggers:\n", sy.Triggers()),
            ("triggers: {files: '*.py'}\n", sy.Triggers(files=("*.py",))),
            ("trigger_files: ['*.py']\ntrigger_keywords: k\n", sy.Triggers(("*.py",), ("k",))),
            (
                "triggers: {files: ['*.py']}\ntrigger_files: ['*.rs']\n",
                sy.Triggers(("*.py", "*.rs")),
            ),
        ],
    )
    def test_a_list_is_phrases_and_a_map_follows_its_keys(
        self, extra: str, triggers: sy.Triggers
    ) -> None:
        parsed = lenient(extra)
        assert parsed.skill.triggers == triggers
        assert parsed.diagnostics == []

    @for_each("phrase", ["*.py", "src/main.rs", "**/test_*"])
    def test_a_phrase_that_looks_like_a_file_pattern_is_warned_of_once(self, phrase: str) -> None:
        parsed = lenient(f"triggers: ['fine', '{phrase}', '{phrase}x']\n")
        assert codes(parsed) == [("trigger_looks_like_glob", "warning", 4)]


class TestRepair:
    BROKEN = "---\nname: acct\ndescription: Use when: always\n---\nBody.\n"

    @for_each(
        ("text", "code"),
        [
            ("---\nname: 'acct\n---\n", "yaml_invalid"),  # nothing to quote
            ("---\nname: acct\ndescription: a: b\ntags: [x\n---\n", "yaml_invalid"),  # not enough
            ("---\nname: &x acct\ndescription: a: b\n---\n", "yaml_anchor"),  # no fault of syntax
        ],
    )
    def test_what_quoting_does_not_cure_is_refused_as_it_was_found(
        self, text: str, code: str
    ) -> None:
        with pytest.raises(sy.SkillYamlError) as caught:
            parse_document(SkillText("p"), text, strict=False)
        assert caught.value.code == code
