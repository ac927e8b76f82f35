"""An index by itself holds its skills whole."""

from __future__ import annotations

from pathlib import Path

import pytest

import skillyard as sy
from skillyard.types import Reference

SKILLS = (
    sy.Skill(
        "git-bisect",
        "Finds the commit that broke the build.",
        "Halve.",
        tags=["git"],
        keywords=["regression"],
        triggers={"files": ["*.log"], "keywords": [], "phrases": ["which commit"]},
        metadata={"author": "Ada"},
        references=[Reference("notes.md", "references/notes.md", "ISO")],
        install_count=7,
        curated=True,
    ),
    sy.Skill("csv-cleaning", "Repairs messy CSV files.", "Profile first."),
    sy.Skill("csv-cleaning", "Repairs messy CSV files.", "Profile first."),
    sy.Skill("wipe-disk", "Erases a disk.", "Ask twice.", trigger=True),
)


def test_skills_come_back_as_they_were(tmp_path: Path) -> None:
    index = sy.Index.build(SKILLS, tmp_path)
    assert len(index) == 3
    assert sorted(index, key=lambda s: (s.name, s.description)) == sorted(
        SKILLS, key=lambda s: (s.name, s.description)
    )


def test_it_finds_what_rank_finds(tmp_path: Path) -> None:
    index = sy.Index.build(SKILLS, str(tmp_path))
    catalog = sy.Catalog.from_skills(SKILLS)
    for query in ("which commit broke it", "@wipe-disk now", sy.Query("x", files=("a.log",))):
        text = query if isinstance(query, str) else query.text
        files = () if isinstance(query, str) else query.files
        ours = index.search(query)
        theirs = sy.rank(catalog, text, files=files)
        assert [(m.skill, m.score, m.level) for m in ours] == [
            (m.skill, m.score, m.level) for m in theirs
        ]
        assert [m.explanation for m in ours] == [m.explanation for m in theirs]


def test_errors_name_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(sy.errors.SkillyardError) as caught:
        sy.Index.open(tmp_path / "nothing")
    assert getattr(caught.value, "code", "") == "index_missing"
    index = sy.Index.build(SKILLS, tmp_path)
    for limit in (-1, 1.5, True, "10"):
        with pytest.raises(sy.errors.InvalidInput, match="limit"):
            index.search("x", limit)  # type: ignore[arg-type]
    (path,) = tmp_path.glob("*.skyidx")
    path.write_bytes(b"nonsense")
    with pytest.raises(sy.IndexDamaged):
        sy.Index.open(tmp_path)
