"""The states that a page can be in, each served for a browser to look at."""

from __future__ import annotations

from collections.abc import Mapping

from tests.worked_examples.making import document

__all__ = ["LONG_NAME", "LONG_REQUEST", "odd_library"]

LONG_NAME = "a-name-of-sixty-four-characters-which-is-as-long-as-the-spec-has"
LONG_REQUEST = "\n\n".join(
    f"{n}. Clean the CSV export of week {n}: broken quotes, doubled rows, dates in three forms."
    for n in range(1, 31)
)
"""A prompt of many lines."""


def odd_library() -> Mapping[str, str]:
    """Return files of skills whose texts are hard to set: long, right to left, without a break."""
    body = "# Steps\n\nDo it."
    files = {
        f"{LONG_NAME}/SKILL.md": document(LONG_NAME, "Sort mail by sender. " * 40, body),
        "arabic/SKILL.md": document(
            "arabic", "تنظيف ملفات CSV المعطوبة وإصلاح الاقتباسات and a word in English.", body
        ),
        "hebrew/SKILL.md": document("hebrew", "עורך מסמכים ומכתבים רשמיים", body),
        "unbroken/SKILL.md": document("unbroken", "x" * 900, body),
    }
    tags = [f"tag-{n}" for n in range(40)]
    for n in range(120):
        listed = ", ".join([tags[n % 40], tags[(n * 7) % 40], "shared"])
        files[f"skill-{n:03}/SKILL.md"] = (
            f"---\nname: skill-{n:03}\ndescription: Handles parcels of kind {n}.\n"
            f"tags: [{listed}]\n---\n\nBody.\n"
        )
    return files
