"""Skills for the tests of the confidence scorer."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from skillyard import Skill, Triggers

__all__ = ["PATHS", "PATTERNS", "WORDS", "filler", "patterned", "skill", "skills"]

WORDS = ("test", "deploy", "react", "query", "cache", "docker", "graph", "schema", "login", "audit")
PATTERNS = ("*.ts", "*.test.ts", "src/**", "package.json", "a*", "!*.test.ts", "{src,lib}/**/*.ts")
PATHS = ("src/a.ts", "src/a.test.ts", "lib/x/b.ts", "package.json", "apple.py", "docs/read.md")


def skill(
    name: str = "blank",
    description: str = "",
    *,
    keywords: Iterable[str] = (),
    tags: Iterable[str] = (),
    files: Iterable[str] = (),
    trigger_keywords: Iterable[str] = (),
    trigger: bool = False,
    path: str = "",
) -> Skill:
    triggers = Triggers(tuple(files), tuple(trigger_keywords))
    return Skill(
        name,
        description,
        None,
        path,
        keywords=tuple(keywords),
        tags=tuple(tags),
        triggers=triggers,
        trigger=trigger,
    )


def patterned(*files: str, name: str = "one") -> Skill:
    return skill(name, files=files)


def filler(count: int = 8) -> list[Skill]:
    """Skills that no prompt of the tests speaks of; they make words rare."""
    return [skill(f"filler{number}", f"handbook gardening{number}") for number in range(count)]


def skills() -> st.SearchStrategy[list[Skill]]:
    """Catalogs of small skills that share words and patterns."""
    words = st.lists(st.sampled_from(WORDS), max_size=3)
    one = st.builds(
        lambda name, description, keywords, tags, files, more: (
            name,
            " ".join(description),
            keywords,
            tags,
            files,
            more,
        ),
        st.sampled_from(["alpha", "beta", "test-kit", "react-guide"]),
        words,
        words,
        words,
        st.lists(st.sampled_from(PATTERNS), max_size=3),
        words,
    )
    return st.lists(one, min_size=1, max_size=6).map(
        lambda rows: [
            skill(
                row[0],
                row[1],
                keywords=row[2],
                tags=row[3],
                files=row[4],
                trigger_keywords=row[5],
                path=str(number),
            )
            for number, row in enumerate(rows)
        ]
    )
