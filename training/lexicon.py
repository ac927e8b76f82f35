"""The word list of the package, by language, from the parts in ``training/data/lexicon``.

python -m training.lexicon
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["by_language"]

FOLDER = Path(__file__).parent / "data" / "lexicon"
PARTS = ("general", "technical", "everyday")
PACKAGE = Path(__file__).parents[1] / "src" / "skillyard"
SHIPPED = PACKAGE / "engine" / "analysis" / "data" / "lexicon.tsv"


def by_language() -> str:
    """Return the text of the package's file: a language a line, a concept a column.

    Raises ValueError for a language that stands twice in a line.
    """
    concepts: list[str] = []
    forms: dict[str, dict[int, str]] = {}
    for part in PARTS:
        for line in (FOLDER / f"{part}.tsv").read_text(encoding="utf-8").splitlines():
            english, *fields = line.split("\t")
            for field in fields:
                code, _, listed = field.partition("=")
                if len(concepts) in forms.setdefault(code, {}):
                    raise ValueError(f"{part}.tsv: {english}: {code} stands twice")
                forms[code][len(concepts)] = listed
            concepts.append(english)
    lines = [["en", *concepts]]
    for code, listed_by_concept in forms.items():
        lines.append([code, *(listed_by_concept.get(n, "") for n in range(len(concepts)))])
    return "".join("\t".join(line) + "\n" for line in lines)


if __name__ == "__main__":
    SHIPPED.write_text(by_language(), encoding="utf-8")
