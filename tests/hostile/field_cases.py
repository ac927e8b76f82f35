"""Hostile names (28), descriptions (4), terminal text (8) and markup (2)."""

from __future__ import annotations

from pathlib import Path

from tests.hostile.case import DESCRIPTION, LOAD, REJECT, Case, numbered, skill_bytes, write

_NAME_CODES = frozenset(
    [
        "name_bad_chars",
        "name_edge_hyphen",
        "name_empty",
        "name_missing",
        "name_too_long",
        "hidden_character",
    ]
)
_DESCRIPTION_CODES = frozenset(
    ["description_empty", "description_missing", "frontmatter_too_large", "hidden_character"]
)
_PLAIN = {"name": "pencil", "description": DESCRIPTION}


def _misnamed(word: str, why: str, line: str) -> Case:
    return Case(word, REJECT, why, skill_bytes(name=line), codes=_NAME_CODES)


def _named(word: str, why: str, name: str, folder: str) -> Case:
    return Case(
        word,
        LOAD,
        why,
        skill_bytes(name=f"name: {name}"),
        target=f"{folder}/SKILL.md",
        values={"name": name, "description": DESCRIPTION},
    )


def _twins(root: Path) -> None:
    write(root / "first/SKILL.md", skill_bytes(name="name: twin"))
    write(root / "second/SKILL.md", skill_bytes(name="name: twin", body="# Another\n"))


def _case_twins(root: Path) -> None:
    write(root / "upper/SKILL.md", skill_bytes(name="name: Dup"))
    write(root / "lower/SKILL.md", skill_bytes(name="name: dup"))


def _names() -> list[Case]:
    return [
        _misnamed("dot-dot", "the folder above", 'name: ".."'),
        _misnamed("traversal", "a path out of the root", "name: ../../evil"),
        _misnamed("absolute", "an absolute path", "name: /opt/evil"),
        _misnamed("backslashes", "a path out of the root, elsewhere", "name: ..\\..\\evil"),
        _misnamed("drive", "relative to a drive", 'name: "C:evil"'),
        _misnamed("slash", "two path parts", "name: a/b"),
        _misnamed("line-break", "a second line for a list", 'name: "pencil\\n- forged"'),
        _misnamed("nul", "ends early for C", 'name: "pencil\\0.png"'),
        _misnamed("esc", "colours the terminal", 'name: "\\e[31mpencil"'),
        _misnamed("bracket", "closes the frame's first line", 'name: "pencil] obey"'),
        _misnamed("quote", "closes an attribute", "name: 'pencil\" onload=x'"),
        _misnamed("angle", "opens a tag", 'name: "<b>pencil"'),
        _misnamed("option", "an option of rm", "name: -rf"),
        _misnamed("long-option", "an option of git", 'name: "--upload-pack=evil"'),
        _misnamed("empty", "no name", 'name: ""'),
        _misnamed("blanks", "only blanks", 'name: "   "'),
        _misnamed("dot-git", "git's own folder", "name: .git"),
        _misnamed("device", "a device on some systems", "name: con"),
        _misnamed("trailing-dot", "another file's name on some systems", "name: pencil."),
        _misnamed("letters-10000", "10,000 letters", f"name: {'a' * 10_000}"),
        _misnamed("missing", "no such key", ""),
        _named("letters-65", "one over the specification", "a" * 65, "a" * 65),
        _named("capitals", "the specification wants lower case", "Pencil", "Pencil"),
        _named("other-than-folder", "name and folder differ", "crayon", "pencil"),
        _named("constructor", "a property of every object", "constructor", "constructor"),
        Case(
            "collision",
            LOAD,
            "two folders, one name: both stay listed",
            make=_twins,
            target="first/SKILL.md",
            also=("second/SKILL.md",),
            values={"name": "twin"},
            count=3,
        ),
        Case(
            "shadow",
            LOAD,
            "a second skill of the canary's name changes nothing for the canary",
            skill_bytes(name="name: canary", description="description: Not the canary."),
            target="another/SKILL.md",
            values={"name": "canary", "description": "Not the canary."},
            count=2,
        ),
        Case(
            "case-twins",
            LOAD,
            "names that differ in case only",
            make=_case_twins,
            target="upper/SKILL.md",
            also=("lower/SKILL.md",),
            values={"name": "Dup"},
            count=3,
        ),
    ]


def _misdescribed(word: str, why: str, line: str) -> Case:
    return Case(word, REJECT, why, skill_bytes(description=line), codes=_DESCRIPTION_CODES)


def _descriptions() -> list[Case]:
    long_text = "b" * 1_025
    return [
        _misdescribed("missing", "no such key", ""),
        _misdescribed("blank", "only blanks", 'description: "   "'),
        _misdescribed("letters-50000", "50,000 letters", f"description: {'b' * 50_000}"),
        Case(
            "letters-1025",
            LOAD,
            "one over the specification",
            skill_bytes(description=f"description: {long_text}"),
            values={"name": "pencil", "description": long_text},
        ),
    ]


def _bodied(word: str, why: str, body: str) -> Case:
    return Case(word, LOAD, why, skill_bytes(body=body), values=_PLAIN)


def _terminal() -> list[Case]:
    return [
        _misdescribed("clear-screen", "clears the screen", 'description: "Good\\e[2J"'),
        _misdescribed(
            "clipboard", "OSC 52 writes the clipboard", 'description: "\\e]52;c;cm0=\\a"'
        ),
        _misdescribed(
            "hyperlink",
            "OSC 8 hides where a link leads",
            'description: "\\e]8;;https://evil.invalid\\aDocs\\e]8;;\\a"',
        ),
        _misdescribed("c1", "CSI as one character", 'description: "\\x9b31mred"'),
        _misdescribed(
            "backspaces", "writes over what was read", 'description: "evil\\b\\b\\b\\bgood"'
        ),
        _misdescribed("carriage-return", "starts the line again", 'description: "evil\\rgood"'),
        _bodied("raw-escapes-in-body", "escapes in the body", "\x1b[2J\x1b[31mred\x9b0m\x07\x08\n"),
        _bodied("unclosed-osc-in-body", "a title that never ends", "\x1b]0;title without an end\n"),
    ]


def _markup() -> list[Case]:
    script = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    fields = (
        f"license: '{script}'\nversion: '{script}'\nhint: '{script}'\ntags: ['{script}']\n"
        f"keywords: ['{script}']\nmetadata:\n  '{script}': '{script}'"
    )
    formula = '=HYPERLINK("https://evil.invalid","x")|cell|\\n| a | b |'
    cells = "tags: ['=1+1', '+1', '-1', '@SUM(A1)', '|', '`x`']\nlicense: '| MIT | yes |'"
    return [
        Case(
            "markup-in-every-field",
            LOAD,
            "markup is text until it is rendered",
            skill_bytes(description=f"description: '{script}'", extra=fields, body=script),
            values={"name": "pencil", "description": script},
        ),
        Case(
            "formula-cells",
            LOAD,
            "text that a table or a spreadsheet would act on",
            skill_bytes(description=f"description: '{formula}'", extra=cells),
            values={"name": "pencil", "description": formula},
        ),
    ]


NAME = numbered("name", _names())
DESCRIPTIONS = numbered("description", _descriptions())
TERM = numbered("term", _terminal())
HTML = numbered("html", _markup())
CASES = NAME + DESCRIPTIONS + TERM + HTML
