"""``index build``, ``status`` and ``verify`` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillyard.engine.catalog.entries.STABLE_AFTER_NS", 0)


@pytest.mark.usefixtures("settled")
def test_an_index_is_missing_then_current_then_stale(run: Run, skills: Path) -> None:
    missing = run("index", "status", "skills", "--json")
    assert (missing.code, missing.json["state"]) == (1, "missing")
    built = run("index", "build", "skills", "--json").json
    assert (built["skills"], built["added"], built["generation"]) == (6, 7, 1)
    current = run("index", "status", "skills", "--json")
    assert (current.code, current.json["state"], current.json["skills"]) == (0, "current", 6)
    with open(skills / "git-bisect" / "SKILL.md", "a", encoding="utf-8") as file:
        file.write("More.\n")
    assert run("index", "status", "skills", "--json").json["state"] == "stale"
    run("rank", "find the commit", "--root", "skills")
    assert run("index", "status", "skills", "--json").json["state"] == "current"
    assert "current" in run("index", "status", "skills").out


def test_a_folder_has_one_index_however_it_is_named(run: Run, skills: Path) -> None:
    one = run("index", "build", "skills", "--json").json["folder"]
    (skills.parent / "link").symlink_to(skills)
    for named in (["--root", "skills"], ["./skills"], [str(skills)], ["skills/"], ["link"]):
        assert run("index", "status", *named, "--json").json["folder"] == one
    named = run("rank", "find the commit", "--root", "./skills", "--json").json["matches"]
    assert all(each["path"].startswith("./skills/") for each in named)


def test_damage_is_found_named_and_mended_by_the_next_question(
    run: Run, skills: Path, own_cache: Path
) -> None:
    before = run("rank", "find the commit", "--root", "skills", "--json").json
    assert run("index", "verify", "skills").code == 0
    (path,) = own_cache.rglob("*.skyidx")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    found = run("index", "verify", "skills", "--json")
    assert (found.code, found.json["sound"]) == (1, False)
    assert found.json["findings"][0]["code"] == "index_damaged"
    assert run("index", "status", "skills", "--json").json["state"] == "damaged"
    assert "index build" in run("index", "verify", "skills").out
    assert run("rank", "find the commit", "--root", "skills", "--json").json == before
    assert run("index", "verify", "skills").code == 0


def test_a_root_that_is_no_folder_is_an_error(run: Run, skills: Path) -> None:
    for command in ("build", "status"):
        answer = run("index", command, "nowhere")
        assert (answer.code, answer.out) == (2, "")
        assert "nowhere" in answer.err
