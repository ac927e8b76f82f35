"""Hostile YAML between good fences (44 inputs)."""

from __future__ import annotations

from typing import Any

from tests.hostile.case import DESCRIPTION, LOAD, REJECT, Case, numbered, skill_bytes

_NAME = "name: pencil"
_TOO_MUCH = "yaml_too_deep yaml_too_large frontmatter_too_large yaml_invalid"
_NO_FIELDS = "yaml_not_mapping name_missing"
_REFERENCE = "yaml_alias yaml_anchor yaml_merge_key"
_STRUCTURE = "yaml_bad_key yaml_directive yaml_invalid"
_PLAIN = f"description: {DESCRIPTION}"


def _refused(word: str, why: str, extra: str, codes: str = "") -> Case:
    """Good name and description, and lines that must cost the skill its place."""
    content = skill_bytes(extra=extra)
    return Case(word, REJECT, why, content, codes=frozenset(codes.split()))


def _whole(word: str, why: str, frontmatter: str, codes: str = "") -> Case:
    """The frontmatter as it stands, nothing added."""
    content = f"---\n{frontmatter}---\n\n# Steps\n".encode()
    return Case(word, REJECT, why, content, codes=frozenset(codes.split()))


def _accepted(word: str, why: str, extra: str, **values: object) -> Case:
    expected: dict[str, Any] = {"name": "pencil", "description": DESCRIPTION, **values}
    return Case(word, LOAD, why, skill_bytes(extra=extra), values=expected)


def _bomb() -> str:
    """Nine lists of nine aliases each: 9⁹ values for a reader that follows them."""
    rows = ["l1: &l1 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(2, 10)]
    return "\n".join(rows)


def _merge_bomb() -> str:
    """Merge keys nested eight deep, nine wide: 428 bytes hold a safe loader for a minute."""
    rows = ["m0: &m0 {k: v}"]
    rows += [f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}]}}" for n in range(1, 9)]
    return "\n".join(rows)


def _refusals() -> list[Case]:
    return [
        _refused("alias-bomb", "nine levels of nine aliases", _bomb(), _REFERENCE),
        _refused(
            "merge-bomb",
            "merge keys eight deep",
            _merge_bomb(),
            _REFERENCE,
        ),
        _refused("one-alias", "one anchor and one alias", "a: &a text\nb: *a", _REFERENCE),
        _refused("self-reference", "a list that holds itself", "a: &a [*a]", _REFERENCE),
        _refused(
            "merge-key",
            "a merge key without any alias",
            "metadata:\n  <<: {k: v}",
            "yaml_merge_key",
        ),
        _refused("brackets-500", "500 nested lists", f"tags: {'[' * 500}{']' * 500}", _TOO_MUCH),
        _refused(
            "brackets-4000", "4,000 nested lists", f"tags: {'[' * 4000}{']' * 4000}", _TOO_MUCH
        ),
        _refused(
            "brackets-8000", "8,000 nested lists", f"tags: {'[' * 8000}{']' * 8000}", _TOO_MUCH
        ),
        _refused(
            "brackets-open", "32,000 brackets that never close", f"tags: {'[' * 32000}", _TOO_MUCH
        ),
        _refused("maps-900", "900 nested maps", f"metadata: {'{a: ' * 900}x{'}' * 900}", _TOO_MUCH),
        _refused(
            "dashes-2000", "2,000 lists opened on one line", f"tags:\n  {'- ' * 2000}x", _TOO_MUCH
        ),
        _refused(
            "duplicate-name",
            "a second name: the last one would win",
            "name: other",
            "yaml_duplicate_key",
        ),
        _refused(
            "duplicate-nested",
            "one key twice below metadata",
            "metadata:\n  k: 1\n  k: 2",
            "yaml_duplicate_key",
        ),
        _refused(
            "python-tag-key",
            "a key that asks for a system call",
            '!!python/object/apply:os.system ["echo pwned"]: x',
            "yaml_tag",
        ),
        _refused(
            "python-tag-value",
            "a value that asks for a system call",
            'license: !!python/object/apply:os.system ["echo pwned"]',
            "yaml_tag",
        ),
        _refused("local-tag", "a tag of the author's own", "license: !mine text", "yaml_tag"),
        _refused("int-tag", "a safe loader answers IndexError", 'version: !!int ""', "yaml_tag"),
        _refused("bool-tag", "a safe loader answers KeyError", 'version: !!bool "x"', "yaml_tag"),
        _refused(
            "timestamp-tag",
            "a safe loader answers AttributeError",
            'version: !!timestamp "x"',
            "yaml_tag",
        ),
        _refused("list-beside-keys", "a list item between keys", "- item", _STRUCTURE),
        _whole("list-only", "a list where keys should be", "- name\n- description\n", _NO_FIELDS),
        _whole("scalar-only", "a sentence where keys should be", "hello there\n", _NO_FIELDS),
        _whole("empty", "no line between the fences", "", _NO_FIELDS),
        _refused("list-as-key", "a key that is a list", "? [a, b]\n: x", _STRUCTURE),
        _refused("null-key", "a key that is nothing", ": x", _STRUCTURE),
        _refused("tab", "indented with a tab", "metadata:\n\tk: v", _STRUCTURE),
        _whole(
            "document-end",
            "the document ends before the fence",
            f"{_NAME}\n...\n{_PLAIN}\n",
            _STRUCTURE,
        ),
        _whole(
            "directive",
            "a version of YAML that does not exist",
            f"%YAML 9.9\n{_NAME}\n{_PLAIN}\n",
            _STRUCTURE,
        ),
        _refused(
            "keys-50000", "50,000 keys", "".join(f"k{n}: v\n" for n in range(50_000)), _TOO_MUCH
        ),
        _refused(
            "keys-1000",
            "1,000 keys, under the size cap",
            "".join(f"k{n}: v\n" for n in range(1_000)),
            _TOO_MUCH,
        ),
        _whole(
            "u2028-key",
            "a key behind a line separator: one line to a reader, two to YAML 1.1",
            f"{_NAME}\ndescription: Looks plain.\u2028license: MIT\n",
        ),
        _whole(
            "u0085-key",
            "a key behind a next-line character",
            f"{_NAME}\ndescription: Looks plain.\u0085license: MIT\n",
        ),
        _whole(
            "description-list",
            "a list as description",
            f"{_NAME}\ndescription: [one, two]\n",
            "description_not_string",
        ),
        _whole(
            "description-map",
            "a map as description",
            f"{_NAME}\ndescription: {{one: two}}\n",
            "description_not_string",
        ),
    ]


def _loads() -> list[Case]:
    return [
        _accepted(
            "impossible-date",
            "a safe loader answers ValueError; a version is text",
            "version: 2024-99-99\nmetadata:\n  released: 2024-99-99",
            version="2024-99-99",
        ),
        _accepted(
            "digits-5000",
            "more digits than Python turns into a number",
            f"metadata:\n  serial: {'7' * 5000}",
        ),
        Case(
            "name-no",
            LOAD,
            "`no` is a word, not a boolean",
            skill_bytes(name="name: no"),
            target="no/SKILL.md",
            values={"name": "no", "description": DESCRIPTION},
        ),
        _accepted("version-1.10", "a version keeps its last zero", "version: 1.10", version="1.10"),
        _accepted("sexagesimal", "no number to base 60", "version: 12:30:45", version="12:30:45"),
        _accepted("octal", "a leading zero stays", "version: 0755", version="0755"),
        _accepted("nan", "no float that is unequal to itself", "version: .nan", version=".nan"),
        Case(
            "unquoted-colon",
            LOAD,
            "the commonest fault of real files, repaired and reported",
            skill_bytes(description="description: Use when: the point is blunt"),
            values={"name": "pencil", "description": "Use when: the point is blunt"},
        ),
        _accepted("triggers-number", "a number where a list should be", "triggers: 7"),
        _accepted("priority-huge", "a priority beyond 64 bits", "priority: 100000000000000000000"),
    ]


CASES = numbered("yaml", _refusals() + _loads())
