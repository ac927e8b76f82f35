"""The fake REST API: every route and status that a client of skills meets."""

from __future__ import annotations

from base64 import b64decode
from hashlib import sha256

import pytest

from skillyard import InvalidInput
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


def test_a_repository_says_what_it_is(repos: str) -> None:
    got = ask(repos)
    assert got.status == 200
    assert got.headers["content-type"] == "application/json; charset=utf-8"
    expected = {
        "name": "skills", "full_name": "Demo/skills", "default_branch": "main", "private": False,
        "archived": False, "stargazers_count": 0, "pushed_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    assert expected.items() <= got.json.items()


def test_names_are_found_in_any_case_and_come_back_as_they_are(repos: str) -> None:
    assert ask(repos.lower()).json["full_name"] == "Demo/skills"


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


def test_without_recursive_a_tree_is_one_folder(repos: str) -> None:
    top = ask(f"{repos}/git/trees/main").json["tree"]
    assert [entry["path"] for entry in top] == ["README.md", "skills", "vendor"]
    below = ask(top[1]["url"]).json["tree"]
    assert [entry["path"] for entry in below] == ["x"]
    deep = ask(f"{top[1]['url']}?recursive=0").json["tree"]
    assert [entry["path"] for entry in deep][:2] == ["x", "x/SKILL.md"]


def test_an_empty_repository_has_no_tree(up: FakeServers) -> None:
    empty = up.add_repository("demo/empty")
    assert (empty.commit, empty.tree_sha) == ("", "")
    base = f"{up.github_api}/repos/demo/empty"
    assert ask(base).status == 200
    got = ask(f"{base}/git/trees/HEAD?recursive=1")
    assert (got.status, got.json["message"]) == (409, "Git Repository is empty.")
    assert ask(f"{base}/commits/main").status == 409
    assert ask(f"{base}/contents/").status == 404


def test_a_tree_is_cut_at_the_documented_limits(repos: str, up: FakeServers) -> None:
    up.switches.tree_entries = 3
    got = ask(f"{repos}/git/trees/HEAD?recursive=1").json
    assert (len(got["tree"]), got["truncated"]) == (3, True)
    up.switches.tree_entries = 100_000
    up.switches.tree_bytes = 2 * (6 + 22) + len("README.md") + len("skills")
    got = ask(f"{repos}/git/trees/HEAD?recursive=1").json
    assert ([entry["path"] for entry in got["tree"]], got["truncated"]) == (
        ["README.md", "skills"], True,
    )  # fmt: skip


@pytest.mark.slow
def test_a_big_tree_is_whole_below_the_limits_and_cut_above(up: FakeServers) -> None:
    up.add_big_tree("demo/big", 50_000)
    url = f"{up.github_api}/repos/demo/big/git/trees/HEAD?recursive=1"
    got = ask(url).json
    assert got["truncated"] is False
    blobs = [entry["path"] for entry in got["tree"] if entry["type"] == "blob"]
    assert len(blobs) == 50_000
    raw = ask(f"{up.github_raw}/demo/big/HEAD/{blobs[-1]}")
    assert raw.body == b"# Part 9 of skill-04999\n"


def test_a_branch_may_hold_a_slash(up: FakeServers) -> None:
    up.add_repository("demo/skills", FILES, default_branch="release/1.0")
    base = f"{up.github_api}/repos/demo/skills"
    assert ask(f"{base}/git/trees/release/1.0").status == 200
    assert ask(f"{base}/git/trees/release%2F1.0").status == 200
    assert ask(f"{up.github_raw}/demo/skills/release/1.0/README.md").body == b"# Demo\n"
    assert ask(f"{base}/git/trees/main").status == 404


def test_contents_give_a_file_in_base64(repos: str, up: FakeServers) -> None:
    got = ask(f"{repos}/contents/skills/x/SKILL.md?ref=main").json
    assert (got["type"], got["encoding"], got["size"]) == ("file", "base64", len(SKILL))
    assert (got["name"], got["path"]) == ("SKILL.md", "skills/x/SKILL.md")
    assert b64decode(got["content"]).decode() == SKILL
    assert got["content"].endswith("\n")
    assert got["download_url"].startswith(up.github_raw)
    assert ask(got["download_url"]).body.decode() == SKILL
    assert ask(got["git_url"]).json["sha"] == got["sha"]


def test_contents_of_another_commit(repos: str, up: FakeServers) -> None:
    before = up.add_repository("Demo/skills", {"README.md": "before"}).commit
    up.add_repository("Demo/skills", {"README.md": "after"})
    raw = "application/vnd.github.raw+json"
    assert ask(f"{repos}/contents/README.md?ref={before}", accept=raw).body == b"before"
    got = ask(f"{repos}/contents/README.md?ref=unknown")
    assert (got.status, got.json["message"]) == (404, "No commit found for the ref unknown")


def test_contents_give_raw_bytes_for_the_raw_media_type(repos: str) -> None:
    for accepted in ("application/vnd.github.raw+json", "application/vnd.github.v3.raw"):
        got = ask(f"{repos}/contents/skills/x/SKILL.md", accept=accepted)
        assert (got.status, got.body.decode()) == (200, SKILL)


def test_contents_give_a_folder_as_a_list(repos: str) -> None:
    got = ask(f"{repos}/contents/skills/x").json
    assert {entry["name"]: entry["type"] for entry in got} == {
        "SKILL.md": "file", "link.md": "symlink", "out": "symlink", "references": "dir",
    }  # fmt: skip
    assert not any("content" in entry for entry in got)
    root = ask(f"{repos}/contents").json
    assert [entry["name"] for entry in root] == ["README.md", "skills", "vendor"]


def test_contents_of_links_and_modules(repos: str) -> None:
    inside = ask(f"{repos}/contents/skills/x/link.md").json
    assert b64decode(inside["content"]).decode() == SKILL
    outside = ask(f"{repos}/contents/skills/x/out").json
    assert (outside["type"], outside["target"]) == ("symlink", "../../../etc/passwd")
    module = ask(f"{repos}/contents/vendor/module").json
    assert (module["type"], module["sha"]) == ("submodule", "a" * 40)
    assert "content" not in module


def test_contents_leave_large_files_out(up: FakeServers) -> None:
    data = b"x" * (1024 * 1024 + 1)
    up.add_repository("demo/large", {"big.md": data})
    url = f"{up.github_api}/repos/demo/large/contents/big.md"
    got = ask(url).json
    assert (got["encoding"], got["content"], got["size"]) == ("none", "", len(data))
    assert ask(url, accept="application/vnd.github.raw").body == data


def test_contents_list_a_thousand_entries_at_most(up: FakeServers) -> None:
    up.add_repository("demo/wide", {f"f{number}": "" for number in range(1_001)})
    assert len(ask(f"{up.github_api}/repos/demo/wide/contents/").json) == 1_000


def test_a_commit_names_its_tree(repos: str, up: FakeServers) -> None:
    first = up.add_repository("Demo/skills", FILES)
    second = up.add_repository("Demo/skills", {"README.md": "# Two\n"})
    got = ask(f"{repos}/commits/HEAD").json
    assert (got["sha"], got["commit"]["tree"]["sha"]) == (second.commit, second.tree_sha)
    assert got["parents"] == [{"sha": first.commit}]
    short = ask(f"{repos}/commits/main", accept="application/vnd.github.sha")
    assert short.body.decode() == second.commit
    assert ask(f"{repos}/commits/unknown").status == 422


def test_an_earlier_commit_stays(repos: str, up: FakeServers) -> None:
    first = up.add_repository("demo/skills", FILES)
    second = up.add_repository("demo/skills", {"README.md": "# Two\n"})
    assert first.commit != second.commit
    assert ask(f"{repos}/git/trees/{first.commit}").json["sha"] == first.tree_sha
    assert ask(f"{repos}/git/trees/{first.tree_sha}").json["sha"] == first.tree_sha
    raw = f"{up.github_raw}/demo/skills"
    assert ask(f"{raw}/{first.commit}/README.md").body == b"# Demo\n"
    assert ask(f"{raw}/HEAD/README.md").body == b"# Two\n"


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


def test_a_name_that_leads_nowhere_or_round_is_404(up: FakeServers) -> None:
    up.add_repository("demo/lost", renamed_to="demo/gone")
    up.add_repository("demo/a", renamed_to="demo/b")
    up.add_repository("demo/b", renamed_to="demo/a")
    for name in ("lost", "a", "b"):
        assert ask(f"{up.github_api}/repos/demo/{name}").status == 404


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


def test_a_wrong_token_is_401(repos: str) -> None:
    for given in ("Bearer wrong", "Basic eDp5", "Bearer"):
        got = ask(repos, authorization=given)
        assert (got.status, got.json) == (401, {"message": "Bad credentials"})


def test_a_client_without_a_name_is_refused(repos: str) -> None:
    assert ask(repos, user_agent="").status == 403


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


def test_another_media_type_has_another_tag(repos: str) -> None:
    url = f"{repos}/contents/README.md"
    tag = ask(url).headers["etag"]
    got = ask(url, if_none_match=tag, accept="application/vnd.github.raw")
    assert (got.status, sha256(got.body).digest()) == (200, sha256(b"# Demo\n").digest())


def test_head_is_get_without_a_body(repos: str) -> None:
    get, head = ask(repos), ask(repos, method="HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(get.body))
    assert head.headers["etag"] == get.headers["etag"]
    assert ask(f"{repos}/no", method="HEAD").status == 404


@for_each("name", ["demo", "demo/", "/skills", "a/b/c", "a b/c", "demo/x?y", ""])
def test_names_that_github_would_not_give_are_refused(up: FakeServers, name: str) -> None:
    with pytest.raises(InvalidInput, match="give owner/name"):
        up.add_repository(name)
    with pytest.raises(InvalidInput, match="give owner/name"):
        up.add_repository("demo/skills", renamed_to=name or "x")
