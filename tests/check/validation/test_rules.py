"""Every rule over one file: a file that breaks it, and one that only looks as if it did."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import skillyard as sy
from skillyard import Diagnostic
from skillyard.check.validation.codes import PROFILES, RULES
from skillyard.check.validation.file_rules import FILE_RULES
from tests.check.validation.skill_files import BODY, codes, text, tree
from tests.requirements import requirement
from tests.tables import for_each

Files = Mapping[str, str]


class Sample(NamedTuple):
    code: str
    bad: Files
    good: Files
    line: int | None = 2
    """Where the bad one is to be found; None where no line can be named."""
    profile: str = "spec"
    look_at: str = ""
    """Path below the root to validate; empty: the first file's folder."""


def _one(content: str, path: str = "pencil/SKILL.md") -> Files:
    return {path: content}


def _named(name: str, folder: str | None = None) -> Files:
    return _one(text(f'"{name}"'), f"{folder or name}/SKILL.md")


def _extra(line: str) -> Files:
    return _one(text(extra=f"{line}\n"))


def _body(content: str, **files: str) -> Files:
    more = {f"pencil/{name.replace('__', '/')}.md": "x" for name in files}
    return {"pencil/SKILL.md": text(body=content), **more}


_GOOD = _one(text())
_FENCED = "```\n<!-- x -->\n[a](gone.md)\n```\nUse `[b](gone.md)` and `<!--`."
_OASIS = "id: {}\ntriggers: [blunt pencil]\npriority: 5\n"

SAMPLES = (
    Sample("byte_order_mark", _one("\ufeff" + text()), _GOOD, 1),
    Sample("line_ends_crlf", _one(text().replace("\n", "\r\n")), _GOOD, 1),
    Sample("trailing_blanks", _one("---\nname: pencil\ndescription: x \t\n---\nb\n"), _GOOD, 3),
    Sample("final_newline_missing", _one("---\nname: pencil\ndescription: x\n---\nb"), _GOOD, 5),
    Sample("name_missing", _one("---\ndescription: x\n---\nb\n"), _GOOD, 1),
    Sample("name_empty", _one('---\nname: " "\ndescription: x\n---\nb\n'), _GOOD),
    Sample("name_not_string", _one("---\nname: [a]\ndescription: x\n---\nb\n"), _GOOD),
    Sample("name_too_long", _named("a" * 65), _named("a" * 64)),
    Sample("name_not_lowercase", _named("My-pencil"), _named("my-pencil2")),
    Sample("name_bad_chars", _named("my_pencil"), _named("my-pencil")),
    Sample("name_edge_hyphen", _named("pencil-"), _named("pen-cil")),
    Sample("name_double_hyphen", _named("pen--cil"), _named("p-e-n-c-i-l")),
    Sample("name_dir_mismatch", _named("pencil", "crayon"), _named("pencil")),
    Sample("name_not_ascii", _named("café"), _named("cafe")),
    Sample(
        "name_file_mismatch",
        _one(text("pencil"), ".skills/tools/crayon.md"),
        _one(text("pencil"), ".skills/tools/pencil.md"),
        look_at=".skills",
    ),
    Sample(
        "oasis_id_not_folder",
        _one(text("Blunt Pencils", extra=_OASIS.format("crayon")), "key_skills/pencil/SKILL.md"),
        _one(text("Blunt Pencils", extra=_OASIS.format("pencil")), "key_skills/pencil/SKILL.md"),
        4,
    ),
    Sample(
        "oasis_id_not_slug",
        _one(text("Blunt Pencils", extra=_OASIS.format("A pencil")), "key_skills/a/SKILL.md"),
        _one(text("Blunt Pencils", extra=_OASIS.format("a-pencil")), "key_skills/a/SKILL.md"),
        4,
    ),
    Sample("description_missing", _one("---\nname: pencil\n---\nb\n"), _GOOD, 1),
    Sample("description_empty", _one("---\nname: pencil\ndescription:\n---\nb\n"), _GOOD, 3),
    Sample(
        "description_not_string", _one("---\nname: pencil\ndescription: {a: b}\n---\nb\n"), _GOOD, 3
    ),
    Sample(
        "description_too_long",
        _one(text(description="x" * 1025)),
        _one(text(description="x" * 1024)),
        3,
    ),
    Sample("description_vague", _one(text(description="Helps with pencils")), _GOOD, 3),
    Sample("description_vague", _one(text("good-pencil", "Good pencil.")), _GOOD, 3),
    Sample("placeholder", _one(text(description="[TODO: what it does]")), _GOOD, 3),
    Sample("placeholder", _one(text(body="1. Sharpen.\n2. …\n")), _one(text(body="`…`")), 7),
    Sample(
        "description_without_when",
        _one(text(description="Sharpens pencils to a given angle.")),
        _one(text(description="Sharpens.", extra="disable-model-invocation: true\n")),
        3,
    ),
    Sample(
        "description_person",
        _one(text(description="I can sharpen pencils. Use for blunt pencils.")),
        _one(text(description='Sharpens pencils. Use for "I can write no more", "You are blunt".')),
        3,
    ),
    Sample("unexpected_fields", _extra("licence: MIT"), _extra("license: MIT"), 4),
    Sample("field_alias", _extra("allowed_tools: Read"), _extra("allowed-tools: Read"), 4),
    Sample("extension_fields", _extra("tags: [wood]"), _extra("metadata: {tags: wood}"), 4),
    Sample(
        "compatibility_not_string", _extra("compatibility: [git]"), _extra("compatibility: git"), 4
    ),
    Sample(
        "compatibility_too_long",
        _extra("compatibility: " + "x" * 501),
        _extra("compatibility: " + "x" * 500),
        4,
    ),
    Sample("compatibility_empty", _extra("compatibility:"), _extra("license:"), 4),
    Sample("license_not_string", _extra("license: [MIT]"), _extra("license: MIT"), 4),
    Sample(
        "metadata_not_string_map",
        _extra("metadata:\n  author: me\n  version: 1.0"),
        _extra('metadata:\n  author: me\n  version: "1.0"'),
        6,
    ),
    Sample(
        "allowed_tools_not_string",
        _extra("allowed-tools: [Read]"),
        _extra("allowed-tools: Read"),
        4,
    ),
    Sample(
        "allowed_tools_commas",
        _extra("allowed-tools: Read, Write"),
        _extra("allowed-tools: Bash(a, b) Write"),
        4,
    ),
    Sample("body_empty", _one("---\nname: pencil\ndescription: x\n---\n"), _GOOD, None),
    Sample("body_too_long", _body("x\n" * 501), _body("x\n" * 400), 6),
    Sample("body_too_long", _body("wörter " * 3_000), _body("word " * 3_900), 6),
    Sample("html_comment", _body("Text.\n\n<!-- do it -->"), _body(_FENCED), 8),
    Sample("reference_missing", _body("See\n[a](gone.md)."), _body(_FENCED), 7),
    Sample(
        "reference_missing",
        _body("See [a](references/gone.md 'title')."),
        _body(
            "See [a](references/guide.md#top) and [b](<guide.md>).", references__guide="", guide=""
        ),
        6,
    ),
    Sample(
        "reference_missing",
        _body("Write it, then read ./references/gone.md.", references__guide=""),
        _body("Read `references/guide.md`. Write `scripts/gone.py`.", references__guide=""),
        6,
    ),
    Sample(
        "reference_missing",
        _body("Then run:\n\n```\nscripts/gone.py in.txt\n```", scripts__other=""),
        _body("```\ntouch references/gone.md\nscripts/gone.py\n```\nFor example `assets/a.png`."),
        9,
    ),
    Sample(
        "reference_missing",
        _body("Read `templates/gone.md`."),
        _body("That is `references/gone.md` of the other skill, or `assets/your-logo.png`."),
        6,
    ),
    Sample(
        "reference_missing",
        _one(text(extra="references:\n  - references/gone.json\n")),
        _one(text(extra="references:\n  - https://example.org/x.json\n")),
        5,
    ),
    Sample(
        "reference_outside",
        _body("See [a](../crayon/SKILL.md)."),
        _body("See [a](https://example.org/../x), [b](#top), [c](mailto:a@b.org), [d]({path})."),
        6,
    ),
    Sample(
        "reference_outside",
        _body("See [a](/etc/hosts)."),
        _body("[a](./x/../guide.md)", guide=""),
        6,
    ),
    Sample("reference_deep", _body("[a](docs/a/b.md)"), _body("[a](docs/b.md)"), 6),
)
_IDS = [f"{number:02d}-{sample.code}" for number, sample in enumerate(SAMPLES)]


def _found(root: Path, files: Files, sample: Sample) -> list[Diagnostic]:
    tree(root, files)
    path = root / (sample.look_at or next(iter(files)).rsplit("/", 1)[0])
    return [each for each in sy.validate(path, sample.profile) if each.code == sample.code]


@for_each("sample", SAMPLES, ids=_IDS)
def test_a_broken_rule_is_found_at_its_line_with_a_hint(sample: Sample, tmp_path: Path) -> None:
    found = _found(tmp_path, sample.bad, sample)
    assert len(found) == 1, found
    assert found[0].line == sample.line
    assert found[0].hint
    assert found[0].message
    assert found[0].severity == RULES[sample.code].severities[sample.profile]


@for_each("sample", SAMPLES, ids=_IDS)
def test_what_only_looks_like_it_is_left_alone(sample: Sample, tmp_path: Path) -> None:
    assert not _found(tmp_path, sample.good, sample)


def test_every_rule_has_a_sample() -> None:
    assert set(FILE_RULES) == {sample.code for sample in SAMPLES}


def test_a_body_that_repeats_a_fault_is_not_a_flood(tmp_path: Path) -> None:
    body = "\n".join(f"[a](gone{number}.md)" for number in range(50))
    found = sy.validate(tree(tmp_path, _one(text(body=body))) / "pencil")
    assert codes(found) == ["reference_missing"] * 21
    assert found[-1].message == "30 more findings of this kind"


def test_lines_of_the_body_are_lines_of_the_file(tmp_path: Path) -> None:
    starts = (
        "---\r\nname: pencil\r\ndescription: x\r\n---\r\n\r\n\r\n",
        "\ufeff---\nname: pencil\ndescription: x\n--- \n",
    )
    for number, start in enumerate(starts):
        content = start + "Text.\n<!-- x -->\n"
        found = sy.validate(tree(tmp_path / str(number), _one(content)) / "pencil")
        lines = [each.line for each in found if each.code == "html_comment"]
        assert lines == [content.split("<!--")[0].count("\n") + 1]
    convention = tree(tmp_path / "convention", {"AGENTS.md": "\n\n" + BODY + "\n\n<!-- x -->\n"})
    assert [each.line for each in sy.validate(convention)] == [7]


def test_a_link_below_the_folder_is_not_followed_to_see_what_is_there(tmp_path: Path) -> None:
    files = _body("[a](docs/gone.md)")
    root = tree(tmp_path, files)
    (root / "pencil/docs").symlink_to(tmp_path, target_is_directory=True)
    assert sy.validate(root / "pencil") == []


@for_each(
    "body",
    [
        "[a](" * 20_000,
        "[" * 90_000,
        "](" * 45_000,
        "<!--" * 20_000,
        "`" * 90_000,
        "```\n" * 9_999,
        "scripts/" * 11_000,
        "(" * 90_000,
    ],
)
def test_a_body_made_to_be_slow_costs_no_more_than_its_length(body: str, tmp_path: Path) -> None:
    root = tree(tmp_path, {"pencil/SKILL.md": text(body=body), "pencil/scripts/a.py": ""})
    assert codes(sy.validate(root / "pencil"), "error") == []


@requirement("validate:descriptions")
def test_a_vague_description_is_a_warning_in_every_profile_with_an_example_of_the_body(
    tmp_path: Path,
) -> None:
    body = (
        "# Database migrations\n\n## Overview\n\n```\n# Not this\n```\n\n## Roll a Migration Back\n"
    )
    root = tree(tmp_path, _one(text(description="Helps with migrations", body=body)))
    for profile in PROFILES:
        (found,) = [e for e in sy.validate(root, profile) if e.code == "description_vague"]
        assert found.severity == "warning"
    assert "'Database migrations: roll a migration back. Use when" in found.hint
    plain = tree(tmp_path / "plain", _one(text(description="Helps with migrations", body="Move.")))
    (found,) = sy.validate(plain)
    assert "Fills in PDF forms" in found.hint
    said = text(description="Helps with migrations", body="# Move\n\nMove tables of `psql`. End.")
    (found,) = sy.validate(tree(tmp_path / "said", _one(said)))
    assert "'Move tables of `psql`. Use when" in found.hint


@requirement("validate:descriptions")
def test_a_file_of_the_repository_above_is_there(tmp_path: Path) -> None:
    content = text(body="Run `scripts/build.py`, then `scripts/gone.py`.")
    tree(tmp_path, {"scripts/build.py": "", "skills/pencil/SKILL.md": content})
    (found,) = sy.validate(tmp_path / "skills/pencil")
    assert found.message == "the file 'scripts/gone.py' is named and not there"


@requirement("validate:descriptions")
def test_fields_in_a_form_that_is_not_read_say_where_their_values_belong(tmp_path: Path) -> None:
    fields = "trigger: sharpen this\nrequires: {mcp: [postgres]}\n"
    found = sy.validate(tree(tmp_path, _one(text(extra=fields))))
    assert codes(found) == ["not_boolean", "requires_unread"]
    assert "`triggers:`" in found[0].hint
    assert "`mcp__server__tool`" in found[1].hint
