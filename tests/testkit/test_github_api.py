"""The fake REST API: every route and status that a client of skills meets."""

from __future__ import annotations

from base64 import b64decode

import pytest

from skillyard_testkit import FakeServers
from tests.tables import for_each
from tests.testkit.client import ask

SKILL = "---\nname: x\ndescription: Does x.\n---\n# X\n"
FILES = {"README.md": "# Demo\n", "skills/x/SKILL.md": SKILL, "skills/x/references/a.md": "# A\n"}


@pytest.fixture
def repos(up: FakeServers) -> str:
    up.add_repository(
        "Demo/skills",
        FILES,
        symlinks={"skills/x/link.md": "SKILL.md", "skills/x/out": "../../../etc/passwd"},
        submodules={"vendor/module": "a" * 40},
    )
    return f"{up.github_api}/repos/Demo/skills"


@for_each(
    "path", ["", "/x", "/repos", "/repos/Demo", "/repos/no/body", "/repos/Demo/skills/unknown",
             "/repositories/1", "/repos/Demo/skills/git/trees", "/repos/Demo/skills/git/trees/no",
             "/repos/Demo/skills/contents/no.md", "/repos/Demo/skills/git/blobs/" + "0" * 40],
)  # fmt: skip
def test_what_is_not_there_is_404_in_githubs_words(repos: str, up: FakeServers, path: str) -> None:
    got = ask(up.github_api + path)
    assert got.status == 404
    assert got.json == {
        "message": "Not Found", "documentation_url": "https://docs.github.com/rest",
        "status": "404",
    }  # fmt: skip


@for_each("name", ["main", "HEAD", "heads/main", "commit", "short", "tree"])
def test_a_tree_is_found_by_branch_head_commit_and_its_own_name(
    repos: str, up: FakeServers, name: str
) -> None:
    head = up.add_repository("Demo/skills", FILES)
    refs = {"commit": head.commit, "short": head.commit[:7], "tree": head.tree_sha}
    got = ask(f"{repos}/git/trees/{refs.get(name, name)}?recursive=1").json
    assert (got["sha"], got["truncated"]) == (head.tree_sha, False)
    assert got["url"] == f"{repos}/git/trees/{head.tree_sha}"
    assert [(entry["path"], entry["type"]) for entry in got["tree"]] == [
        ("README.md", "blob"), ("skills", "tree"), ("skills/x", "tree"),
        ("skills/x/SKILL.md", "blob"), ("skills/x/references", "tree"),
        ("skills/x/references/a.md", "blob"),
    ]  # fmt: skip


def test_entries_have_mode_size_and_an_address_that_answers(repos: str) -> None:
    tree = ask(f"{repos}/git/trees/HEAD?recursive=1").json["tree"]
    by_path = {entry["path"]: entry for entry in tree}
    assert by_path["skills/x/link.md"]["mode"] == "120000"
    assert by_path["skills/x/SKILL.md"]["size"] == len(SKILL)
    module = {
        "path": "vendor/module", "mode": "160000", "type": "commit", "sha": "a" * 40
    }  # fmt: skip
    assert by_path["vendor/module"] == module
    assert "size" not in by_path["skills"]
    for entry in tree:
        if "url" in entry:
            response = ask(entry["url"])
            assert (response.status, response.json["sha"]) == (200, entry["sha"])
    blob = ask(by_path["skills/x/SKILL.md"]["url"])
    assert b64decode(blob.json["content"]).decode() == SKILL
    raw = ask(by_path["skills/x/SKILL.md"]["url"], accept="application/vnd.github.raw+json")
    assert raw.body.decode() == SKILL


def test_a_renamed_repository_redirects_to_its_number(up: FakeServers) -> None:
    now = up.add_repository("demo/now", FILES)
    up.add_repository("demo/before", renamed_to="demo/now")
    got = ask(f"{up.github_api}/repos/demo/before/git/trees/HEAD?recursive=1")
    assert got.status == 301
    location = f"{up.github_api}/repositories/{now.number}/git/trees/HEAD?recursive=1"
    assert (got.headers["location"], got.json["url"]) == (location, location)
    assert got.json["message"] == "Moved Permanently"
    assert ask(location).json["sha"] == now.tree_sha
    assert ask(f"{up.github_api}/repositories/{now.number}").json["full_name"] == "demo/now"
    assert ask(f"{up.github_raw}/demo/before/main/README.md").body == b"# Demo\n"


def test_a_private_repository_is_there_for_the_token_alone(up: FakeServers) -> None:
    up.add_repository("demo/secret", FILES, private=True)
    url = f"{up.github_api}/repos/demo/secret"
    raw = f"{up.github_raw}/demo/secret/main/README.md"
    token = up.switches.github_token
    assert (ask(url).status, ask(raw).status) == (404, 404)
    for scheme in ("Bearer", "token"):
        assert ask(url, authorization=f"{scheme} {token}").json["private"] is True
        assert ask(raw, authorization=f"{scheme} {token}").body == b"# Demo\n"
    assert ask(raw, authorization="Bearer wrong").status == 404


@pytest.mark.parametrize(
    "path", ["", "/git/trees/HEAD?recursive=1", "/git/trees/main", "/contents/skills/x/SKILL.md",
             "/contents/skills", "/commits/HEAD"],
)  # fmt: skip
def test_every_route_knows_what_the_client_has(repos: str, up: FakeServers, path: str) -> None:
    first = ask(repos + path)
    tag = first.headers["etag"]
    assert tag.startswith('W/"')
    for known in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
        again = ask(repos + path, if_none_match=known)
        assert (again.status, again.body) == (304, b"")
        assert again.headers["etag"] == tag
        assert "content-length" not in again.headers
    assert ask(repos + path, if_none_match='"other"').status == 200
    up.add_repository("Demo/skills", {"skills/x/SKILL.md": "changed\n"})
    assert ask(repos + path, if_none_match=tag).status == 200
