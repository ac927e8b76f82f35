"""Repositories are read from every kind of server, at the commit that was asked for."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from skillyard.errors import InvalidInput, SourceFailed
from skillyard.install.git.address import parse_git_address
from skillyard.install.git.command import Git, failure_of
from skillyard.install.git.repository import GitRepository, clear_repositories
from tests.install.git.home import git_home as git_home
from tests.install.git.home import server_of as server_of
from tests.install.git.servers import KINDS, GitServer, Upstream
from tests.tables import for_each

every_server = pytest.mark.parametrize("server_of", KINDS, indirect=True)


def reader(url: str, *, offline: bool = False) -> GitRepository:
    return GitRepository(parse_git_address(url), Git("", threading.Event()), offline=offline)


def text_at(repository: GitRepository, ref: str = "HEAD", path: str = "a.txt") -> str:
    tree = repository.tree(ref)
    (size,) = repository.blob_sizes(tree, [path]).values()
    (data,) = repository.read_blobs(tree, [path], size)
    return data.decode()


@every_server
def test_what_was_fetched_once_answers_offline(server_of: GitServer) -> None:
    upstream = server_of.upstream("one.git")
    first = upstream.publish({"a.txt": "first", "b.txt": "never read"})
    text_at(reader(server_of.url("one.git")))
    offline = reader(server_of.url("one.git"), offline=True)
    upstream.publish({"a.txt": "second"})
    assert (text_at(offline), text_at(offline, first)) == ("first", "first")
    for ref, path in (("v2", "a.txt"), ("f" * 40, "a.txt"), ("HEAD", "b.txt")):
        with pytest.raises(SourceFailed, match="SKILLYARD_OFFLINE") as caught:
            text_at(offline, ref, path)
        assert caught.value.code == "offline"


def test_only_the_files_that_are_read_are_fetched(tmp_path: Path, git_home: Path) -> None:
    upstream = Upstream(tmp_path / "one.git")
    upstream.publish({"a.txt": "small", "large.bin": os.urandom(3_000_000)})
    repository = reader(f"file://{upstream.folder}")
    assert text_at(repository) == "small"
    packs = Path(repository.folder, "objects", "pack").iterdir()
    assert sum(path.stat().st_size for path in packs) < 100_000


def test_damage_and_locks_of_a_killed_run_are_mended(tmp_path: Path, git_home: Path) -> None:
    upstream = Upstream(tmp_path / "one.git")
    upstream.publish({"a.txt": "first"})
    repository = reader(f"file://{upstream.folder}")
    text_at(repository)
    for name in ("shallow.lock", "config.lock", "packed-refs.lock"):
        Path(repository.folder, name).touch()
    upstream.publish({"a.txt": "second"})
    assert text_at(repository) == "second"
    for pack in Path(repository.folder, "objects", "pack").glob("*.pack"):
        pack.chmod(0o600)
        pack.write_bytes(b"no pack")
    upstream.publish({"a.txt": "third"})
    assert text_at(repository) == "third"


def test_runs_at_once_share_the_cache(tmp_path: Path, git_home: Path) -> None:
    upstream = Upstream(tmp_path / "one.git")
    upstream.publish({"a.txt": "first"})
    texts: list[str] = []
    threads = [
        threading.Thread(target=lambda: texts.append(text_at(reader(f"file://{upstream.folder}"))))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == ["first"] * 6


def test_repositories_that_nobody_used_are_removed(tmp_path: Path, git_home: Path) -> None:
    for name in ("old", "new"):
        Upstream(tmp_path / f"{name}.git").publish({"a.txt": name})
        text_at(reader(f"file://{tmp_path}/{name}.git"))
    old = reader(f"file://{tmp_path}/old.git")
    os.utime(old.folder, (1_000, 1_000))
    clear_repositories(unused_s=3_600)
    new = reader(f"file://{tmp_path}/new.git")
    assert (os.path.exists(old.folder), os.path.exists(new.folder)) == (False, True)
    clear_repositories()
    assert not os.path.exists(new.folder)


# --- credentials and failures ---


def test_a_token_with_a_slash_or_an_at_sign_is_in_no_message() -> None:
    address = "https://user:s3cret/k@y@git.example/one.git/"
    for said in (
        f"fatal: unable to access '{address}': Could not resolve host",
        f"fatal: Authentication failed for '{address}'",
        f"fatal: repository '{address.replace('user:', '')}' not found",
    ):
        text = str(failure_of(said))
        assert "//git.example/one.git" in text
        assert not any(part in text for part in ("s3cret", "k@y"))


def test_without_git_it_is_said_what_to_install(
    git_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceFailed, match="git is not installed; install it"):
        text_at(reader("https://host.invalid/one.git"))


# --- addresses and refs ---

REFUSED = (
    "https://user@host.example/one.git",
    "https://user:password@host.example/one.git",
    "ssh://git:password@host.example/one.git",
    "ssh://-oProxyCommand=touch%20x/one.git",
    "ssh://-user@host.example/one.git",
    "-u@host.example:one.git",
    "git@-oProxyCommand=x:one.git",
    "git@host.example:-one.git",
    "ext::sh -c touch% x",
    "ext://sh",
    "ftp://host.example/one.git",
    "file://host/one.git",
    "file:one.git",
    "https:///one.git",
    "https://host.example/",
    "https://host.example/one.git?token=x",
    "https://host.example:port/one.git",
    "https://host\n.example/one.git",
    "https://hóst.example/one.git",
    "https://[::1/one.git",
    "https://host.example/acme/../evil/one.git",
    "https://host.example/acme/%2e%2E/evil/one.git",
    "git@host.example:acme/../evil/one.git",
    "",
)


@for_each("url", REFUSED)
def test_odd_addresses_are_refused_without_repeating_a_password(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_git_address(url)
    assert "password@" not in str(caught.value)
    assert "token=x" not in str(caught.value)


@for_each(
    "settings",
    [
        '[remote "origin"]\n\tfetch = +refs/pull/*:refs/pull/*\n\ttagOpt = --tags\n',
        "[trace2]\n\tnormalTarget = 2\n",
        "[init]\n\tdefaultRefFormat = reftable\n\tdefaultObjectFormat = sha256\n",
        "[color]\n\tui = always\n[core]\n\tquotePath = true\n\tautocrlf = true\n",
    ],
)
def test_settings_of_the_user_do_not_change_what_is_read(
    tmp_path: Path, git_home: Path, settings: str
) -> None:
    upstream = Upstream(tmp_path / "one.git")
    upstream.publish({"a.txt": "first\r\n"})
    (git_home / ".gitconfig").write_text(f"[safe]\n\tdirectory = *\n{settings}")
    assert text_at(reader(f"file://{upstream.folder}")) == "first\r\n"
