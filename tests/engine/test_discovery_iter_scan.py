"""The walk as a stream finds what a scan finds, and keeps nothing of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillyard import Diagnostic
from skillyard.engine.discovery import Candidate, Root, scan
from skillyard.engine.discovery import walk as module
from skillyard.engine.discovery.walk import Walk, iter_scan
from tests.cli.making import hostile_library, library, write
from tests.store.inputs import document
from tests.tables import for_each


def odd(root: Path) -> Path:
    """Write links, nesting, convention files and folders that are skipped."""
    write(
        root,
        {
            "a/SKILL.md": document("a"),
            "a/nested/SKILL.md": document("nested"),
            "a/references/x.md": "x",
            "z/y/x/w/SKILL.md": document("w"),
            "node_modules/m/SKILL.md": document("m"),
            ".skills/one.md": document("one"),
            "CLAUDE.md": "# Rules\n",
            "lower/skill.md": document("lower"),
        },
    )
    (root / "linked").symlink_to(root / "z" / "y")
    (root / "loop").symlink_to(root)
    (root / "broken").symlink_to(root / "nowhere")
    return root


@for_each("make", [library, hostile_library, odd])
def test_a_stream_finds_what_a_scan_finds(make: object, tmp_path: Path) -> None:
    roots = [Root(str(make(tmp_path / "one"))), Root(str(make(tmp_path / "two")))]  # type: ignore[operator]
    whole, found = scan(roots), list(iter_scan(roots))
    candidates = [each for each in found if isinstance(each, Candidate)]
    diagnostics = [each for each in found if isinstance(each, Diagnostic)]
    assert sorted(candidates, key=lambda c: (c.root, c.parts)) == list(whole.candidates)
    assert sorted(diagnostics) == sorted(whole.diagnostics)
    assert list(iter_scan(roots)) == found


def test_nothing_that_was_given_away_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    walks: list[Walk] = []

    class Kept(Walk):
        def __init__(self, *given: object) -> None:
            super().__init__(*given)  # type: ignore[arg-type]
            walks.append(self)

    monkeypatch.setattr(module, "Walk", Kept)
    for found in iter_scan([Root(str(odd(tmp_path / "one")))]):
        (walk,) = walks
        assert len(walk.candidates) <= 2, found
        assert len(walk.folder_stamps) <= 1
    assert (walk.candidates, walk.diagnostics, walk.folder_stamps) == ([], [], [])
