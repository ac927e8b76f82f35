"""Hostile archives (22) through the command line: published on a site, found, fetched, refused."""

from __future__ import annotations

import os
import stat

import pytest

from skillyard.base.invisible import find_hidden
from skillyard.install.copies.lockfile import read_project_lock
from tests.hostile.archive_cases import CASES, SCRIPT, ArchiveCase
from tests.hostile.case import LOAD, REJECT
from tests.hostile.network import World, skill

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")

_REFUSED = pytest.mark.parametrize(
    "case", [case for case in CASES if case.verdict == REJECT], ids=lambda case: case.id
)


def publish(here: World, case: ArchiveCase) -> None:
    """Publish an archive with the digest of what it is: only its content is at fault."""
    ending = "zip" if case.kind == "zip" else "tar.gz"
    here.up.add_well_known(
        "pencil", {}, "archive", ending=ending, artifact=case.make(), description="Pencils."
    )


@_REFUSED
def test_adding_a_hostile_archive_is_refused_by_name_and_leaves_everything(
    here: World, case: ArchiveCase
) -> None:
    """In the folder lies what was installed before, which the archive would replace."""
    publish(here, case)
    (here.into / "other").mkdir(parents=True)
    (here.into / "other" / "SKILL.md").write_text(skill("other"))
    before = here.files()
    done = here.run("add", "pencil", "--into", str(here.into))
    assert (done.code, done.out) == (4, "")
    assert "the archive of " in done.err
    assert case.entry[:40] in done.err
    assert find_hidden(done.err.rstrip("\n")) is None
    assert done.err.count("\n") == 1
    assert here.files() == before
    assert not any("evil" in name or "pwned" in name for name in here.files())


def test_a_setuid_script_is_installed_as_a_script_and_nothing_more(here: World) -> None:
    (case,) = [case for case in CASES if case.verdict == LOAD]
    publish(here, case)
    os.umask(0o022)
    shape = here.run("add", "pencil", "--into", str(here.into), "--json").json
    assert shape["files"] == ["SKILL.md", "scripts/run.sh"]
    script = here.into / "pencil" / "scripts" / "run.sh"
    assert script.read_bytes() == SCRIPT
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    assert stat.S_IMODE((here.into / "pencil" / "SKILL.md").stat().st_mode) == 0o644
    (locked,) = read_project_lock(shape["lock"]).skills
    assert (locked.name, locked.source_type) == ("pencil", "well-known")
    assert locked.well_known_digest is not None
