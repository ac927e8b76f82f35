"""A run is never renamed over what is no plain file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from skillyard import SkillIoError
from skillyard.evals.retrieval.measures import write_json


def test_a_link_is_written_through_and_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "run.json", tmp_path / "link.json"
    target.write_text("old", encoding="ascii")
    link.symlink_to(target)
    write_json(str(link), {"q": 1})
    assert link.is_symlink()
    assert target.read_text(encoding="ascii") == '{"q":1}\n'


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_through_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_json(str(pipe), [1])
        assert os.read(reader, 100) == b"[1]\n"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SkillIoError, match="cannot write"):
        write_json(str(tmp_path), {})
    assert list(tmp_path.iterdir()) == []
