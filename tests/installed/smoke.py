"""What a wheel must do on every system that it is built for: cibuildwheel runs this after a build.

It imports nothing of the checkout but this file.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SKILL = "---\nname: csv-cleaning\ndescription: Cleans CSV files.\n---\n\n# Clean\n\nDo it.\n"


def test_the_kernel_is_there_and_a_skill_is_found(tmp_path: Path) -> None:
    import skillyard
    from skillyard.engine.index.kernel import KERNEL

    folder = tmp_path / "skills" / "csv-cleaning"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL, encoding="utf-8")
    catalog = skillyard.load_catalog(str(tmp_path / "skills"))
    selection = skillyard.select(catalog, "clean this csv file")
    assert KERNEL is not None
    assert [match.skill.name for match in selection.selected] == ["csv-cleaning"]


def test_the_command_line_starts(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "skillyard", "list", str(tmp_path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert '"skills"' in done.stdout
