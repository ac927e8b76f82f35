"""Headings, prose and code of a body; and what a skill says it is not for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.analysis.body import split_body, split_description
from tests.tables import for_each

BODY = """\
# Title

Prose one.

```python
# a comment, no heading
code()
```

## When not to use

Payments.

### Deeper

Refunds.

## Steps
~~~
still code
"""


def test_the_parts_of_a_body() -> None:
    parts = split_body(BODY)
    assert parts.headings.split("\n") == ["Title", "Steps"]
    assert "Prose one." in parts.prose
    assert parts.code == "# a comment, no heading\ncode()\nstill code\n"
    assert parts.avoid.split() == ["When", "not", "to", "use", "Payments.", "Deeper", "Refunds."]


def test_headings_that_only_sound_like_a_warning_are_prose() -> None:
    for title in ("Do not panic", "Never mind the gap", "Notes"):
        assert split_body(f"## {title}\ntext").avoid == ""
    for title in ("When NOT to use this skill", "Out of scope", "Don't use for", "Not for"):
        assert "text" in split_body(f"## {title}\ntext").avoid


def test_a_description_may_say_both() -> None:
    wanted, avoid = split_description(
        "Repairs CSV files. Do not use for Excel sheets. Also reads TSV; not for JSON"
    )
    assert wanted.split() == ["Repairs", "CSV", "files.", ".", "Also", "reads", "TSV;"]
    assert [line.split()[-1] for line in avoid.split("\n")] == ["sheets", "JSON"]
    assert split_description("Plain.") == ("Plain.", "")


@for_each(
    "description,avoid",
    [
        ("Any form that is NOT signup: contact, quotes.", "signup"),
        ("Fills forms. It isn't meant for tables.", "tables"),
        ("Reads diffs. Does not cover style (see style-guide).", "style (see style-guide)"),
        ("Plans. For finding the design use brainstorming.", None),
        ("Counts forms, for popups see popup-forms.", "for popups see popup-forms"),
        ("Fits a CV. Cover letters are not covered.", "Cover letters"),
        ("Schreibt Rechnungen. Nicht für Angebote.", "Angebote"),
        ("Rédige des contrats. Ne pas utiliser pour la paie.", "la paie"),
        ("Escribe cartas. No usar para etiquetas.", "etiquetas"),
        ("撰写小红书笔记。不要用于公众号长文。", "公众号长文"),
        ("日報を書く。週報には使わないでください。", "週報"),
        ("Writes tests. No API key required. For best results, write clear names.", ""),
        ("Not only tests, not just functions.", ""),
    ],
)
def test_what_a_description_excludes(description: str, avoid: str | None) -> None:
    expected = description.split(". ")[1].rstrip(".") if avoid is None else avoid
    assert split_description(description)[1].strip() == expected


_PIECES = st.sampled_from(
    [
        *"# \n\t~`x",
        "\n",
        "\n# ",
        "\n## Not for ",
        "```",
        "~~~",
        "\x1c",
        "\xa0",
        "\r",
        "\v",
        "####### ",
    ]
)


@given(st.lists(_PIECES, max_size=25).map("".join))
def test_the_parts_are_those_that_a_look_at_every_line_gives(text: str) -> None:
    parts: dict[str, list[str]] = {"headings": [], "prose": [], "code": [], "avoid": []}
    fence, shunned = "", 0
    for line in text.split("\n"):
        mark = line.lstrip()[:3]
        level = len(line) - len(line.lstrip("#"))
        title = line[level:].strip(" #")
        if mark in ("```", "~~~"):
            fence = "" if mark == fence else fence or mark
        elif fence:
            parts["code"].append(line)
        elif 1 <= level <= 6 and line[level : level + 1] in (" ", "\t"):
            if shunned and level <= shunned:
                shunned = 0
            if not shunned and title.startswith("Not for"):
                shunned = level
            parts["avoid" if shunned else "headings"].append(title)
        else:
            parts["avoid" if shunned else "prose"].append(line)
    assert split_body(text)._asdict() == {kind: "\n".join(kept) for kind, kept in parts.items()}
