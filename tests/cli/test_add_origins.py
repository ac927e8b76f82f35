"""``add`` from git servers, archives and folders: the answers and the lock."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from skillyard.errors import SourceFailed
from skillyard.install.copies.lockfile import LockedSkill
from skillyard_testkit import FakeServers, faults
from tests.cli.conftest import Run
from tests.cli.origins import FILES, PDF, entries, fetch, locked, pack
from tests.cli.origins import library as library
from tests.cli.origins import project as project
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import site as site
from tests.cli.remotes import tree_of
from tests.configuration import configure
from tests.install.git.home import git_home as git_home
from tests.install.git.home import server_of as server_of
from tests.install.git.servers import KINDS, GitServer, Upstream, http_server
from tests.tables import for_each

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")


# --- a whole life, on every server ---


def walk(run: Run, server: GitServer, project: Path) -> None:
    """Add a skill, let it change upstream, and go on with what is installed."""
    upstream = server.upstream("team/skills.git")
    first = upstream.publish(FILES, executable=("skills/pdf/scripts/fill.py",), tag="v1")
    target, into = f"{server.url('team/skills.git')}#main@pdf", (".agents/skills",)
    place = project / ".agents" / "skills" / "pdf"

    shape = run("add", target, "--into", *into, "--json").json
    assert (shape["state"], shape["files"]) == ("added", ["SKILL.md", "scripts/fill.py"])
    assert os.access(place / "scripts" / "fill.py", os.X_OK)
    assert entries(project)["pdf"] == {
        "source": server.url("team/skills.git"),
        "sourceUrl": server.url("team/skills.git"),
        "ref": "main",
        "sourceType": "git",
        "skillPath": "skills/pdf/SKILL.md",
        "computedHash": locked(project).computed_hash,
        "commit": first,
        "digest": shape["digest"],
        "executableDigest": locked(project).executable_digest,
    }
    before = tree_of(place)

    second = upstream.publish({**FILES, "skills/pdf/SKILL.md": PDF + "\nMore.\n"})
    entry = locked(project)
    pinned = fetch(entry, pinned=True, folder=project)
    newest = fetch(entry, pinned=False, folder=project)
    assert (pinned.commit, newest.commit) == (first, second)
    assert dict(pinned.files) == before
    assert newest.files["SKILL.md"].endswith(b"More.\n")

    # What is upstream is listed, shown and taken.
    done = run("outdated", "--json")
    assert (done.code, [skill["state"] for skill in done.json["skills"]]) == (1, ["outdated"])
    done = run("update", "--dry-run")
    assert "+More." in done.out
    assert tree_of(place) == before
    assert run("update", "--yes", "--json").code == 0
    assert (locked(project).commit, run("outdated").code) == (second, 0)
    assert (place / "SKILL.md").read_text().endswith("More.\n")
    assert run("verify").code == run("sync", "--frozen").code == 0

    # An edit is told and never lost.
    (place / "SKILL.md").write_text("mine")
    third = upstream.publish({**FILES, "skills/pdf/SKILL.md": PDF + "\nEven more.\n"})
    for command in (("verify",), ("sync",), ("sync", "--frozen"), ("update", "--yes")):
        assert run(*command).code == 1
    assert run("add", target, "--into", *into).code == 2
    assert run("remove", "pdf").code != 0
    assert (place / "SKILL.md").read_text() == "mine"

    # What is missing comes back as it is pinned, although the branch has moved on.
    shutil.rmtree(place)
    assert run("sync", "--frozen").code == 1
    assert run("sync").code == 0
    assert locked(project).commit == second
    assert (place / "SKILL.md").read_text().endswith("\nMore.\n")
    shutil.rmtree(place)
    assert run("add", target.partition("#")[0] + "#@pdf", "--into", *into).code == 0
    assert (locked(project).commit, locked(project).ref) == (second, "main")

    assert run("add", target, "--into", *into, "--json").json["state"] == "replaced"
    assert locked(project).commit == third
    assert run("remove", "pdf").code == 0
    assert not place.exists()
    assert entries(project) == {}


@pytest.mark.parametrize("server_of", KINDS, indirect=True)
def test_a_skill_lives_with_every_git_server(run: Run, server_of: GitServer, project: Path) -> None:
    walk(run, server_of, project)


def test_branches_with_a_slash_and_tags_with_an_at_sign_are_found(
    run: Run, project: Path, tmp_path: Path
) -> None:
    upstream = Upstream(tmp_path / "served" / "team" / "skills.git")
    upstream.publish({"skills/pdf/SKILL.md": PDF + "tagged"}, tag="@team/pdf@1.0")
    upstream.publish(FILES, branch="feature/x")
    upstream.publish({**FILES, "skills/pdf/SKILL.md": PDF + "main"})
    with http_server(tmp_path / "served") as base:
        url = f"{base}/team/skills.git"
        page = f"{base}/team/skills/-/tree/feature/x/skills/pdf"
        for target, ref in ((page, "feature/x"), (f"{url}#@team/pdf@1.0@pdf", "@team/pdf@1.0")):
            assert run("add", target, "--into", "skills").code == 0
            assert locked(project).ref == ref
            assert run("remove", "pdf").code == 0
        gone = run("add", page.replace("feature/x", "feature/y"), "--into", "skills")
    assert (gone.code, "no branch or tag 'feature'" in gone.err) == (2, True)


def test_a_pinned_commit_of_a_rewritten_branch_is_fetched(
    run: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream = Upstream(tmp_path / "skills.git")
    first = upstream.publish(FILES)
    assert run("add", f"file://{upstream.folder}#@pdf", "--into", "skills").code == 0
    upstream.publish({"skills/pdf/SKILL.md": PDF + "new"}, amend=True)
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "other-cache"))
    configure(monkeypatch, tmp_path, sources={"git_hosts": [f"file://{tmp_path}"]})
    assert fetch(locked(project), pinned=True, folder=project).commit == first


def test_a_pinned_commit_that_is_gone_is_told_with_what_helps(
    run: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream = Upstream(tmp_path / "skills.git")
    upstream.publish(FILES)
    assert run("add", f"file://{upstream.folder}#@pdf", "--into", "skills").code == 0
    shutil.rmtree(upstream.folder)
    Upstream(tmp_path / "skills.git").publish({"skills/pdf/SKILL.md": PDF + "new"})
    shutil.rmtree(project / "skills" / "pdf")
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "other-cache"))
    configure(monkeypatch, tmp_path, sources={"git_hosts": [f"file://{tmp_path}"]})
    done = run("sync", "--into", "skills")
    assert (done.code, "`skillyard update --into skills pdf` takes the newest" in done.out) == (
        1,
        True,
    )
    assert run("update", "pdf", "--yes", "--into", "skills").code == 0
    assert (project / "skills" / "pdf" / "SKILL.md").read_text() == PDF + "new"


def test_a_branch_of_its_own_name_is_kept_apart_from_the_default(
    run: Run, project: Path, tmp_path: Path
) -> None:
    upstream = Upstream(tmp_path / "skills.git")
    upstream.publish(FILES)
    upstream.publish({"skills/pdf/SKILL.md": PDF + "beta"}, branch="beta")
    assert run("add", f"file://{upstream.folder}#beta", "--into", "skills").code == 0
    upstream.publish({"skills/pdf/SKILL.md": PDF + "main"})
    package = fetch(locked(project), pinned=False, folder=project)
    assert package.files["SKILL.md"].endswith(b"beta")


PAGES = (
    "{base}/team/sub/skills/-/tree/v1/skills/pdf",
    "{base}/team/sub/skills/-/blob/v1/skills/pdf/SKILL.md",
    "{base}/team/skills/src/tag/v1/skills/pdf",
)


@for_each("page", PAGES)
def test_pages_of_web_hosts_lead_to_their_repository(
    run: Run, project: Path, tmp_path: Path, page: str
) -> None:
    """The shapes of addresses are those of GitLab and Gitea; what serves them is git itself."""
    for name in ("team/sub/skills.git", "team/skills.git"):
        if not (tmp_path / "served" / name).exists():
            Upstream(tmp_path / "served" / name).publish(FILES, tag="v1")
    with http_server(tmp_path / "served") as base:
        into = page.rpartition("/-/")[2].replace("/", "_")
        done = run("add", page.format(base=base), "--into", into)
        assert done.code == 0, done.err
    kind = "gitlab" if "/-/" in page else "git"
    assert (locked(project).source_type, locked(project).ref) == (kind, "v1")
    (project / "skills-lock.json").unlink()


def test_names_that_collide_are_refused_whole(run: Run, project: Path, tmp_path: Path) -> None:
    upstream = Upstream(tmp_path / "skills.git")
    upstream.publish({"SKILL.md": PDF, "notes.md": "one", "NOTES.md": "two"})
    done = run("add", f"file://{upstream.folder}", "--into", "skills")
    assert done.code != 0
    assert "differs from it only in case" in done.err
    assert not (project / "skills" / "pdf").exists()


def test_the_same_name_from_another_repository_is_refused(
    run: Run, project: Path, tmp_path: Path
) -> None:
    for name in ("good", "evil"):
        Upstream(tmp_path / "served" / f"{name}.git").publish({"SKILL.md": PDF + name})
    with http_server(tmp_path / "served") as base:
        assert run("add", f"{base}/good.git", "--into", "skills").code == 0
        done = run("add", f"{base}/evil.git", "--into", "skills")
    assert (done.code, "`skillyard remove pdf`, then add it again" in done.err) == (2, True)
    assert (project / "skills" / "pdf" / "SKILL.md").read_text().endswith("good")


def test_a_password_is_in_no_output_lock_or_cache(
    run: Run, project: Path, git_home: Path, tmp_path: Path
) -> None:
    login = "robot:s3cret-value"
    Upstream(tmp_path / "served" / "skills.git").publish({"SKILL.md": PDF})
    with http_server(tmp_path / "served", login=login) as base:
        with_login = base.replace("://", f"://{login}@")
        outputs = [run("add", f"{with_login}/skills.git", "--into", "skills", "--json")]
        assert (outputs[0].code, "user name or password" in outputs[0].err) == (2, True)
        (git_home / ".git-credentials").write_text(f"{with_login}\n")
        (git_home / ".gitconfig").write_text("[credential]\n\thelper = store\n")
        outputs.append(run("add", f"{base}/skills.git", "--into", "skills", "--json"))
        assert outputs[1].code == 0
    assert not any("s3cret" in each.out + each.err for each in outputs)
    files = [*project.rglob("*"), *(tmp_path / "cache").rglob("*")]
    assert not any(b"s3cret" in path.read_bytes() for path in files if path.is_file())


# --- GitHub by git, where its API denies ---


@for_each("fault", ["rate_limited", "private"])
def test_github_is_asked_by_git_where_its_api_denies(
    run: Run, remotes: FakeServers, project: Path, tmp_path: Path, fault: str
) -> None:
    base = tmp_path / fault
    Upstream(base / "acme" / "secret.git").publish(FILES, tag="v1")
    with pytest.MonkeyPatch.context() as patch:
        configure(patch, tmp_path, sources={"github_git_url": f"file://{base}"})
        if fault == "rate_limited":
            remotes.faults.add("github_api", "*", faults.rate_limited(), times=None)
        for target in ("acme/secret/pdf", "acme/secret@v1#pdf"):
            shape = run("add", target, "--into", f"{fault}-skills", "--json").json
            assert shape["state"] in ("added", "unchanged")
            assert shape["notes"][-1].endswith("it was fetched with git")
        entry = entries(project)["pdf"]
        assert (entry["source"], entry["sourceType"]) == ("acme/secret", "github")
        assert "sourceUrl" not in entry
        package = fetch(locked(project), pinned=True, folder=project)
        assert package.commit == entry["commit"]
    (project / "skills-lock.json").unlink()
    assert run("add", "acme/nowhere/pdf", "--into", "skills").code in (2, 4)


# --- archives ---


@for_each("name", ["x.zip", "x.tar", "x.tar.gz", "x.tgz"])
def test_a_skill_of_an_archive_is_installed_and_locked(
    run: Run, project: Path, site: tuple[Path, str], name: str
) -> None:
    folder, base = site
    pack(folder / name, FILES)
    done = run("add", f"{base}/{name}")
    assert (done.code, f"name one: {base}/{name}#docx, {base}/{name}#pdf" in done.err) == (2, True)
    shape = run("add", f"{base}/{name}#pdf", "--into", name, "--json").json
    assert shape["files"] == ["SKILL.md", "scripts/fill.py"]
    entry = entries(project)["pdf"]
    assert (entry["source"], entry["sourceType"]) == (f"{base}/{name}", "download")
    assert entry["skillPath"] == "skills-main/skills/pdf/SKILL.md"
    package = fetch(locked(project), pinned=True, folder=project)
    assert dict(package.files) == tree_of(project / name / "pdf")
    (project / "skills-lock.json").unlink()


# --- folders ---


def test_a_folder_is_copied_and_locked_relative_to_the_project(
    run: Run, project: Path, library: Path
) -> None:
    source = library / "skills" / "pdf"
    (source / "passwd").symlink_to("/etc/passwd")
    os.mkfifo(source / "pipe")
    (source / "scripts" / "fill.py").chmod(0o755)
    shape = run("add", "../library/skills/pdf", "--into", "skills", "--json").json
    assert shape["files"] == ["SKILL.md", "scripts/fill.py"]
    assert shape["skipped"] == [
        "passwd: a link, which is not followed",
        "pipe: neither a file nor a folder",
    ]
    assert os.access(project / "skills" / "pdf" / "scripts" / "fill.py", os.X_OK)
    entry = entries(project)["pdf"]
    assert (entry["source"], entry["sourceType"]) == ("../library/skills/pdf", "local")
    assert run("add", str(source), "--into", "skills", "--json").json["state"] == "unchanged"
    (source / "SKILL.md").write_text(PDF + "more")
    package = fetch(locked(project), pinned=True, folder=project)
    assert package.files["SKILL.md"].endswith(b"more")
    assert run("add", str(source), "--into", "skills", "--json").json["state"] == "replaced"


def test_a_project_that_is_a_skill_can_be_added_to_itself(run: Run, project: Path) -> None:
    (project / "SKILL.md").write_text(PDF)
    for _ in range(2):  # the lock file, which is there the second time, is no file of the skill
        shape = run("add", "./", "--into", ".agents/skills", "--json").json
        assert shape["files"] == ["SKILL.md"]
    assert (shape["state"], run("outdated").code) == ("unchanged", 0)
    assert shape["skipped"] == [
        "skills-lock.json: the lock file, which changes with what is installed"
    ]


def test_a_skill_is_not_added_to_where_it_lies(run: Run, project: Path, library: Path) -> None:
    assert run("add", "../library/skills/pdf", "--into", "skills").code == 0
    done = run("add", "./skills/pdf", "--into", "skills")
    assert (done.code, "lies there already" in done.err) == (2, True)
    assert entries(project)["pdf"]["source"] == "../library/skills/pdf"


def test_a_lock_file_names_no_folder_of_another_machine(project: Path) -> None:
    for source in ("\\\\server\\share\\pdf", "//server/share/pdf"):
        with pytest.raises(SourceFailed, match="another machine"):
            fetch(LockedSkill("pdf", source, "local"), pinned=True, folder=project)


def test_a_site_is_asked_as_the_installer_notes_it(
    run: Run, remotes: FakeServers, project: Path
) -> None:
    """Its host is the source, and its address stands beside."""
    host = remotes.well_known.partition("://")[2]
    entry = LockedSkill("release-notes", host, "well-known", source_url=remotes.well_known)
    assert "SKILL.md" in fetch(entry, pinned=True, folder=project).files
    with pytest.raises(SourceFailed, match=r"no-such-host\.invalid"):
        fetch(LockedSkill("x", "no-such-host.invalid", "well-known"), pinned=True, folder=project)
