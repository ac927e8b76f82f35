"""The two formats of reports, against files that a reviewer reads.

``SKILLYARD_REWRITE_GOLDEN=1`` writes the files anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from skillyard import Diagnostic
from skillyard.base.invisible import find_hidden
from skillyard.check.validation import report
from tests.tables import for_each

_GOLDEN = Path(__file__).parent / "golden"
FOUND = [
    Diagnostic(
        "yaml_invalid",
        "error",
        "lib/broken/SKILL.md",
        "invalid YAML: mapping values are not allowed in this context",
        "put the value in quotes: it holds a colon followed by a blank",
        3,
        17,
        "description: Use when: asked",
    ),
    Diagnostic("skill_md_missing", "error", "lib/empty", "there is no SKILL.md", "add one"),
    Diagnostic("name_not_ascii", "warning", "lib/größe/SKILL.md", "the name 'größe' …", "", 2),
    Diagnostic("name_shared", "info", "lib/größe/SKILL.md", "100% of 'a,b:c'", "rename it", 2),
]
HOSTILE = Diagnostic(
    "name_bad_chars",
    "error",
    "a\n::error file=x::\x1b[2J,b:c%0A\ud800.md",
    "line\r\n::set-output name=x::y \u202e%0D\u200b",
    "hint\n##[command]",
    2,
    1,
    "\x00",
)


FORMS: dict[str, Callable[[list[Diagnostic]], str]] = {
    "sarif": report.as_sarif,
    "github": report.as_github,
}


@for_each("form", FORMS)
def test_each_format_reads_as_the_file_that_was_reviewed(form: str) -> None:
    path = _GOLDEN / f"{form}.txt"
    text = FORMS[form](FOUND)
    if os.environ.get("SKILLYARD_REWRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")


def test_the_sarif_has_the_structure_of_2_1_0() -> None:
    document = json.loads(report.as_sarif([*FOUND, HOSTILE]))
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-2.1.0.json")
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert {result["level"] for result in run["results"]} == {"error", "warning", "note"}
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"].isascii()
        assert not set(place["artifactLocation"]["uri"]) & set(' \n:"')
        assert place["region"]["startLine"] >= 1


def test_a_hostile_finding_stays_on_its_line_and_starts_no_command() -> None:
    lines = report.as_github([HOSTILE]).split("\n")
    assert len(lines) == 2
    assert lines[1] == ""
    assert lines[0].startswith("::error file=a %3A%3Aerror file=x%3A%3A\\x1b[2J%2Cb%3Ac%250A")
    assert lines[0].count("::error") == 1
    properties = lines[0].split(" ", 1)[1].split("::")[0]
    assert [part.split("=")[0] for part in properties.split(",")] == [
        "file",
        "line",
        "col",
        "title",
    ]
    assert find_hidden(lines[0]) is None
