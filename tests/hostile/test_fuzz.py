"""Any bytes give a skill or a SkillError with path, code and hint: never anything else."""

from __future__ import annotations

import os
import random
import re
from collections import Counter

import pytest
import yaml

import skillyard as sy
from skillyard import SkillError
from skillyard.base.invisible import find_hidden
from tests.hostile import tree
from tests.hostile.case import skill_bytes, write
from tests.hostile.hang_bound import assert_helpful, below
from tests.hostile.watchdog import hang_bound
from tests.shared_data import cases
from tests.tables import for_each

_MADE = int(os.environ.get("SKILLYARD_FUZZ", "10000"))
"""How many inputs of each kind; a nightly run sets 1,000,000."""
_SECONDS = 60 + _MADE // 100
_BATCH = 500

# fmt: off
_KEYS = (
    "name", "description", "license", "version", "tags", "keywords", "triggers", "metadata",
    "allowed-tools", "references", "trigger", "hint", "compatibility", "priority", "inputs",
    "outputs", "safety_notes", "id", "title", "user-invocable", "files", "phrases", "x", "note",
)
_BAD_KEYS = (
    "<<", "~", "null", "1", "[a]", "{a}", "?", "&", "*", "!", "!!str", "", " ", '"', "a\u2028b",
)
_VALUES = (
    "pencil", "Use it well", "'quoted'", '"said"', "1.10", "true", "[a, b]", "{k: v}", "", "7", "é",
)
_BAD_VALUES = (
    "Use when: blunt", "'open", '"open', '"\\x00"', '"\\ud800"', "~", "null", "yes", "0o17",
    "1e999", ".nan", "12:30:45", "2024-99-99", "!!int x", "!!float x", "!!binary //", "!t x",
    "&a x", "*a", "|", ">-", "|9", "[a", "{a: b", "- a", " ", "\t", "# note", "a #b", "---", "...",
    "%YAML 1.1", "@x", "`x`", "\u0085", "\u2028", "\ufeff", "\U000e0041", "\u202e", "x" * 300,
    "7" * 400, "[" * 40, "\x00", "\x1b", "\r", "<<", "a\rtrigger: true", "a\u2028trigger: true",
)
# fmt: on
_FENCES = ("--- \n", "----\n", " ---\n", "+++\n", "---\r\n", "\ufeff---\n", "")


def _line(source: random.Random, bad: float) -> str:
    """Return one line of frontmatter; each part is hostile with probability ``bad``."""
    key = source.choice(_BAD_KEYS if source.random() < bad / 2 else _KEYS)
    value = source.choice(_BAD_VALUES if source.random() < bad else _VALUES)
    kind = source.random()
    indent = source.choice(("  ", "    ", "\t")) if source.random() < bad else ""
    if kind < 0.85:
        return f"{indent}{key}: {value}"
    return f"{indent}- {value}" if kind < 0.95 else indent + value


def _made(source: random.Random) -> str:
    """Return one document of a small grammar that leans towards trouble."""
    bad = source.choice((0.0, 0.1, 0.3, 0.8))
    lines = [_line(source, bad) for _ in range(source.randrange(0, 6))]
    if source.random() < 0.85:
        lines[:0] = ["name: pencil", "description: Sharpens."]
    ending = source.choice(("\n", "\r\n", "\r")) if source.random() < bad / 4 else "\n"
    fences = [source.choice(_FENCES) if source.random() < bad / 4 else "---\n" for _ in range(2)]
    return fences[0] + ending.join(lines) + ending + fences[1] + "Body.\n"


def _assert_placed(error: SkillError, path: str, content: str) -> None:
    assert error.path == path
    assert error.line is None or 1 <= error.line <= content.count("\n") + 1


def _check(path: str, content: str) -> str:
    """Read once, strictly. Anything but a skill or a SkillError escapes."""
    try:
        skill = sy.parse_skill(path, content)
    except SkillError as error:
        assert_helpful(error)
        _assert_placed(error, path, content)
        return error.code
    assert skill.name.strip()
    assert skill.description.strip()
    assert find_hidden(skill.name + skill.description) is None
    return "loaded"


def _check_lenient(path: str, content: str) -> None:
    """Read once with repairs allowed: a skill or a SkillError as well."""
    try:
        assert sy.parse_instructions(path, content).name
    except SkillError as error:
        assert_helpful(error)


def test_frontmatters_made_by_a_grammar_give_a_skill_or_a_skill_error() -> None:
    source = random.Random(20_260_821)
    outcomes: Counter[str] = Counter()
    with hang_bound(_SECONDS):
        for _ in range(_MADE):
            text = _made(source)
            outcomes[_check("pencil/SKILL.md", text)] += 1
            _check_lenient("pencil/SKILL.md", text)
            _check_lenient("AGENTS.md", text)
    assert outcomes["loaded"] > _MADE // 10, "the grammar has gone wild"
    assert len(outcomes) > 10, "the grammar has gone tame"


def _read_otherwise(text: str) -> tuple[str, str, str]:
    """Return name, description and body by other means: a pattern and a pure Python parser."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    _, block, body = re.split(r"^---[ \t]*$", text, maxsplit=2, flags=re.MULTILINE)
    fields = yaml.load(block, Loader=yaml.BaseLoader)
    return fields["name"].strip(), fields["description"].strip(), body.strip()


def test_what_loads_reads_the_same_with_another_reader() -> None:
    source = random.Random(20_260_823)
    compared = 0
    with hang_bound(_SECONDS):
        for text in (_made(source) for _ in range(_MADE // 5)):
            if "\t" in text or "\ufeff" in text[1:]:
                continue  # the two parsers are known to differ on both between tokens
            if _check("pencil/SKILL.md", text) == "loaded":
                skill = sy.parse_skill("pencil/SKILL.md", text)
                assert (skill.name, skill.description, skill.body) == _read_otherwise(text)
                compared += 1
    assert compared > _MADE // 50


@for_each("separator", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
@for_each("line", ["note: x{}trigger: true", "description: Good.{}license: MIT"])
def test_no_separator_smuggles_a_field_past_a_reader_of_lines(separator: str, line: str) -> None:
    """A person, git and a line tool see one line; YAML 1.1 sees two."""
    field = line.format(separator)
    described = "" if "description" in line else "description: Sharpens.\n"
    text = f"---\nname: pencil\n{described}{field}\n---\nBody.\n"
    with pytest.raises(SkillError):
        sy.parse_skill("pencil/SKILL.md", text)
    with pytest.raises(SkillError):
        sy.parse_instructions("pencil/SKILL.md", text)


def _seeds(shared_cases: list[bytes]) -> list[bytes]:
    small = [case.content for case in tree.cases() if case.content and len(case.content) < 3_000]
    return [*small, *shared_cases, skill_bytes(extra="tags: [a, b]\nmetadata:\n  k: v")]


def _mutated(source: random.Random, seeds: list[bytes]) -> bytes:
    """Return a seed with a growing number of bytes changed, dropped, doubled or spliced."""
    data = bytearray(source.choice(seeds))
    for _ in range(source.choice((1, 1, 2, 4, 16))):
        if not data:
            break
        at = source.randrange(len(data))
        act = source.randrange(5)
        if act == 0:
            data[at] = source.randrange(256)
        elif act == 1:
            del data[at : at + source.randrange(1, 9)]
        elif act == 2:
            data[at:at] = data[at : at + 12]
        elif act == 3:
            data[at:at] = source.choice(
                (b"\n", b":", b"---\n", b"\x00", b"\xff", b"\xe2\x80", b"  ")
            )
        else:
            other = source.choice(seeds)
            data[at:] = other[source.randrange(len(other)) :] if other else b""
    return bytes(data)


def _corpus() -> list[bytes]:
    """Return real-looking documents of the conformance cases."""
    return [
        case["content"].encode("utf-8", "surrogatepass")
        for name in ("spec_validation", "adk_parsing")
        for case in cases(name)["cases"]
        if isinstance(case.get("content"), str) and len(case["content"]) < 3_000
    ]


def test_mutated_files_load_or_are_named_and_cost_no_other(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    source = random.Random(20_260_822)
    seeds = _seeds(_corpus())
    base = tmp_path_factory.mktemp("mutated")
    loaded = refused = 0
    with hang_bound(_SECONDS):
        for start in range(0, _MADE, _BATCH):
            names = [f"f{number:07d}" for number in range(start, min(start + _BATCH, _MADE))]
            root = base / f"batch{start}"
            for name in names:
                write(root / name / "SKILL.md", _mutated(source, seeds))
            catalog = sy.load_catalog(root)
            good = {below(skill.path, root).split("/")[0] for skill in catalog.skills}
            bad = {
                below(found.path, root).split("/")[0]
                for found in catalog.diagnostics
                if found.severity == "error"
            }
            assert sorted([*good, *bad]) == names
            loaded, refused = loaded + len(good), refused + len(bad)
    assert min(loaded, refused) > _MADE // 50
