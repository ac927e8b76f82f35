"""Every past finding, replayed in each layout."""

from __future__ import annotations

from pathlib import Path

from tests.hostile.case import write
from tests.hostile.hang_bound import below, load
from tests.tables import for_each

_FOUND = sorted(
    path for path in (Path(__file__).parent / "found").iterdir() if path.suffix == ".input"
)
_PLACES = ("pencil/SKILL.md", ".skills/pencil.md", "AGENTS.md", "key_skills/pencil/SKILL.md")


@for_each("path", _FOUND, ids=lambda path: path.stem)
def test_a_past_finding_gets_its_verdict(path: Path, tmp_path: Path) -> None:
    write(tmp_path / "pencil/SKILL.md", path.read_bytes())
    catalog = load(tmp_path)
    errors = [found for found in catalog.diagnostics if found.severity == "error"]
    verdict = path.name.split("-", 1)[0]
    assert bool(catalog.skills) != bool(errors)
    assert verdict == "any" or bool(catalog.skills) == (verdict == "load"), errors
    assert all(found.hint for found in errors)


@for_each("path", _FOUND, ids=lambda path: path.stem)
def test_a_past_finding_loads_or_is_named_in_every_layout(path: Path, tmp_path: Path) -> None:
    for place in _PLACES:
        write(tmp_path / place, path.read_bytes())
    catalog = load(tmp_path)
    seen = {below(skill.path, tmp_path) for skill in catalog.skills}
    seen |= {below(item.path, tmp_path) for item in catalog.diagnostics if item.severity == "error"}
    assert seen == set(_PLACES)
