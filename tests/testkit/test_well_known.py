"""The fake well-known site: both index versions, digests, archives and headers."""

from __future__ import annotations

import io
import tarfile
import zipfile
from hashlib import sha256
from typing import Any
from urllib.parse import urljoin

import pytest

from skillyard_testkit import FakeServers
from tests.testkit.client import Got, ask

SKILL = "---\nname: x\ndescription: 'Does x, well.'\n---\n# X\n"
MORE: dict[str, str | bytes] = {
    "SKILL.md": "# Y\n",
    "scripts/run.py": "print()\n",
    "references/a.md": b"\xff\x00",
}
NEW, OLD = "/.well-known/agent-skills/", "/.well-known/skills/"


@pytest.fixture
def site(up: FakeServers) -> FakeServers:
    up.add_well_known("x", {"SKILL.md": SKILL})
    up.add_well_known("y", MORE, "archive")
    up.add_well_known("z", MORE, "archive", ending="zip", description="Does z.")
    return up


def index(up: FakeServers, place: str = NEW) -> Any:
    return ask(f"{up.well_known}{place}index.json").json


def artifact(up: FakeServers, entry: Any) -> Got:
    return ask(urljoin(f"{up.well_known}{NEW}index.json", entry["url"]))


def test_the_index_has_the_shape_of_the_draft(site: FakeServers) -> None:
    got = index(site)
    assert got["$schema"] == "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
    assert [(e["name"], e["type"], e["description"], e["url"]) for e in got["skills"]] == [
        ("x", "skill-md", "Does x, well.", "x/SKILL.md"),
        ("y", "archive", "The skill y.", "y.tar.gz"),
        ("z", "archive", "Does z.", "z.zip"),
    ]


def test_digests_are_those_of_what_is_served(site: FakeServers) -> None:
    for entry, kind in zip(
        index(site)["skills"],
        ("text/markdown; charset=utf-8", "application/gzip", "application/zip"),
        strict=True,
    ):
        got = artifact(site, entry)
        assert (got.status, got.headers["content-type"]) == (200, kind)
        assert entry["digest"] == f"sha256:{sha256(got.body).hexdigest()}"


def test_archives_hold_the_files_with_skill_md_at_their_root(site: FakeServers) -> None:
    _, tar, zipped = index(site)["skills"]
    expected = {path: c if isinstance(c, bytes) else c.encode() for path, c in MORE.items()}
    with tarfile.open(fileobj=io.BytesIO(artifact(site, tar).body)) as archive:
        found = {member.name: archive.extractfile(member) for member in archive}
        assert {name: file.read() for name, file in found.items() if file} == expected
    with zipfile.ZipFile(io.BytesIO(artifact(site, zipped).body)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == expected


def test_the_old_index_lists_files(site: FakeServers) -> None:
    site.well_known_version = "0.1.0"
    assert index(site, OLD) == {
        "skills": [
            {"name": "x", "description": "Does x, well.", "files": ["SKILL.md"]},
            {"name": "y", "description": "The skill y.",
             "files": ["SKILL.md", "references/a.md", "scripts/run.py"]},
            {"name": "z", "description": "Does z.",
             "files": ["SKILL.md", "references/a.md", "scripts/run.py"]},
        ]
    }  # fmt: skip
    assert ask(f"{site.well_known}{OLD}y/references/a.md").body == b"\xff\x00"
    assert ask(f"{site.well_known}{OLD}x/SKILL.md").body.decode() == SKILL


@pytest.mark.parametrize("place", ["index.json", "x/SKILL.md", "y.tar.gz"])
def test_everything_has_a_tag_and_the_asked_for_headers(site: FakeServers, place: str) -> None:
    url = f"{site.well_known}{NEW}{place}"
    got = ask(url)
    assert got.headers["access-control-allow-origin"] == "*"
    assert "max-age" in got.headers["cache-control"]
    again = ask(url, if_none_match=got.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    head = ask(url, method="HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(got.body))
    site.add_well_known("x", {"SKILL.md": "other"})
    site.add_well_known("y", {"SKILL.md": "other"}, "archive")
    assert ask(url, if_none_match=got.headers["etag"]).status == 200


def test_hostile_artifacts_and_entries_can_be_made(up: FakeServers) -> None:
    up.add_well_known("evil", {}, "archive", artifact=b"no archive")
    up.add_well_known("odd", {"SKILL.md": "#"}, fields={"type": "wasm", "url": "http://x/"})
    evil, odd = index(up)["skills"]
    assert artifact(up, evil).body == b"no archive"
    assert evil["digest"] == f"sha256:{sha256(b'no archive').hexdigest()}"
    assert (odd["type"], odd["url"]) == ("wasm", "http://x/")
