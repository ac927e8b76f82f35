"""A small library and files to read over it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from skillyard import Catalog, Diagnostic, Skill
from skillyard.evals.cases.reading import (
    CasePlaces,
    Dataset,
    Notes,
    build_dataset,
    find_sources,
)
from skillyard.evals.cases.skill_cases import SkillCases, read_case_files


def library() -> Catalog:
    """Three skills that differ in their words, and a hidden one."""
    return Catalog.from_skills(
        [
            Skill(
                "table-repair", "Repairs broken tables and exports. Use when an import fails.", "B"
            ),
            Skill("graph-drawing", "Draws graphs. Use when numbers have to be shown.", "B"),
            Skill("letter", "Writes letters. Use when somebody waits for an answer.", "B"),
            Skill("wipe-out", "Deletes everything.", "B", trigger=True),
        ]
    )


def written(folder: Path, name: str, text: str) -> Path:
    """Write a file below a folder; return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def one(diagnostics: Iterable[Diagnostic], path: Path, line: int | None, says: str) -> None:
    """Assert that one diagnostic names the file, the line and what is wrong, with a way out."""
    listed = [(each.path, each.line, each.message) for each in diagnostics if each.hint]
    assert any(each[:2] == (str(path), line) and says in each[2] for each in listed), listed


def read_cases(
    place: str | Path, catalog: Catalog | None = None, skill: str | None = None
) -> Dataset[SkillCases]:
    """Return the cases of skills in a file or folder, as no layer has changed them yet."""
    notes, skills = Notes(), catalog or library()
    files = find_sources(CasePlaces((str(place),)), skills, notes)
    return build_dataset(read_case_files(files, skills, notes, skill), notes, files)
