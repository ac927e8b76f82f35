"""Hostile repositories and servers: nothing runs, nothing is followed, everything has an end."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from skillyard.errors import SourceFailed
from skillyard.install.git.address import parse_git_address
from skillyard.install.git.command import Git, GitLimits
from skillyard.install.git.repository import GitRepository, clear_repositories
from skillyard.install.origins.git import GitQuery, git_package, locked_git_package
from skillyard.install.sources.protocol import Package
from skillyard.install.sources.settings import Settings
from tests.install.git.home import git_home as git_home
from tests.install.git.servers import Upstream, git, http_server
from tests.tables import for_each

SKILL = "---\nname: pdf\ndescription: Fills in forms.\n---\n\nSteps.\n"


def fetch(url: str) -> Package:
    return asyncio.run(git_package(Settings(), GitQuery(parse_git_address(url))))


@pytest.fixture
def upstream(tmp_path: Path, git_home: Path) -> Upstream:
    return Upstream(tmp_path / "one.git")


def test_links_submodules_and_lfs_are_left_out_and_said(upstream: Upstream) -> None:
    skill, pointer = upstream.blob(SKILL), upstream.blob("version https://git-lfs.github.com/spec/")
    modules = upstream.blob('[submodule "x"]\n\tpath = sub\n\turl = https://host.invalid/x.git\n')
    upstream.commit_of(
        {
            ".gitmodules": ("100644", "blob", modules),
            "SKILL.md": ("100644", "blob", skill),
            "large.bin": ("100644", "blob", pointer),
            "passwd": ("120000", "blob", upstream.blob("/etc/passwd")),
            "sub": ("160000", "commit", "1" * 40),
        }
    )
    package = fetch(f"file://{upstream.folder}")
    assert sorted(package.files) == [".gitmodules", "SKILL.md"]
    assert [line.split(":")[0] for line in package.skipped] == ["passwd", "sub", "large.bin"]


def test_nothing_of_a_repository_is_run(upstream: Upstream, tmp_path: Path) -> None:
    """Filters, hooks and textconv only work in a checkout or in the repository of a server."""
    upstream.publish({"SKILL.md": SKILL, ".gitattributes": "* filter=evil diff=evil\n"})
    trace = tmp_path / "ran"
    command = f"touch {trace}"
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text(
        "[safe]\n\tdirectory = *\n"
        f"[core]\n\thooksPath = {tmp_path}/hooks\n\tfsmonitor = {command}\n"
        f'[filter "evil"]\n\tsmudge = {command}\n\tprocess = {command}\n\trequired = true\n'
        f'[diff "evil"]\n\ttextconv = {command}\n'
    )
    (tmp_path / "hooks").mkdir()
    for name in ("post-checkout", "reference-transaction", "post-merge"):
        hook = tmp_path / "hooks" / name
        hook.write_text(f"#!/bin/sh\n{command}\n")
        hook.chmod(0o755)
    assert fetch(f"file://{upstream.folder}").files["SKILL.md"] == SKILL.encode()
    assert not trace.exists()


@for_each("name", ["..", ".git", ".GIT", "git~1", ".g\u200cit", ".", "a/../../../evil"])
def test_names_that_git_must_not_write_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path / name.encode().hex()
        home.mkdir()
        patch.setenv("SKILLYARD_CACHE", str(home / "cache"))
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        upstream = Upstream(home / "one.git")
        inner = upstream.tree_of({"config": ("100644", "blob", upstream.blob("x"))})
        skill = ("100644", "blob", upstream.blob(SKILL))
        upstream.commit_of({"SKILL.md": skill, name: ("40000", "tree", inner)})
        with pytest.raises(SourceFailed) as caught:
            fetch(f"file://{upstream.folder}")
        assert caught.value.code == "refused"


def test_the_bomb_of_ten_billion_entries_is_stopped(upstream: Upstream) -> None:
    """Each folder holds ten times the one below it: a few hundred bytes, and 10^10 paths."""
    tree = upstream.tree_of({"f": ("100644", "blob", upstream.blob("x"))})
    for _ in range(10):
        tree = upstream.tree_of({f"d{digit}": ("40000", "tree", tree) for digit in range(10)})
    upstream.commit_of({"d": ("40000", "tree", tree)})
    git_ = Git("", threading.Event(), limits=GitLimits(output_bytes=1_000_000))
    repository = GitRepository(parse_git_address(f"file://{upstream.folder}"), git_)
    with pytest.raises(SourceFailed, match="more than 1,000,000 bytes") as caught:
        repository.tree()
    assert caught.value.code == "too_large"


# --- servers ---


def _packet(data: bytes) -> bytes:
    return b"%04x" % (len(data) + 4) + data


def test_a_server_that_says_nothing_is_given_up(upstream: Upstream) -> None:
    finished = threading.Event()

    def answer(handler: BaseHTTPRequestHandler, body: bytes) -> bool:
        return finished.wait(60)

    git_ = Git("", threading.Event(), limits=GitLimits(seconds=0.5))
    with http_server(upstream.folder.parent, answer=answer) as base:
        repository = GitRepository(parse_git_address(f"{base}/one.git"), git_)
        with pytest.raises(SourceFailed, match=r"did not finish in 0\.5 s"):
            repository.commit()
        finished.set()


def test_a_server_that_only_serves_files_is_asked_for_each_once(
    upstream: Upstream, tmp_path: Path
) -> None:
    """Such a server knows no partial clone, for which git would start itself again and again."""
    upstream.commit_of({"SKILL.md": ("100644", "blob", upstream.blob(SKILL))})
    git("update-server-info", folder=upstream.folder)
    paths: list[str] = []

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(tmp_path))

        def do_GET(self) -> None:
            paths.append(self.path)
            super().do_GET()

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            package = fetch(f"http://127.0.0.1:{server.server_port}/one.git")
        finally:
            server.shutdown()
            thread.join()
    assert sorted(package.files) == ["SKILL.md"]
    assert len(paths) < 50


def test_words_of_a_server_come_without_control_characters(upstream: Upstream) -> None:
    def answer(handler: BaseHTTPRequestHandler, body: bytes) -> bool:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
        handler.end_headers()
        handler.wfile.write(_packet(b"ERR \x1b]52;c;evil\x07\x1b[2J" + b"x" * 5_000))
        return True

    with (
        http_server(upstream.folder.parent, answer=answer) as base,
        pytest.raises(SourceFailed) as caught,
    ):
        fetch(f"{base}/one.git")
    text = str(caught.value)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert len(text) < 600


# --- what a lock file names ---

LOCKED = {
    "file": "file://{folder}/one.git",
    "ssh to a host of nobody's": "ssh://git@internal.corp/one.git",
    "scp to a host of nobody's": "git@internal.corp:one.git",
    "git": "git://127.0.0.1/one.git",
    "http": "http://169.254.169.254/one.git",
    "this machine": "https://127.0.0.1/one.git",
    "a name of this machine": "https://localhost:8443/one.git",
    "metadata of a cloud": "https://169.254.169.254/one.git",
    "private": "https://10.0.0.1/one.git",
    "private in IPv6": "https://[fd00::1]/one.git",
}


@for_each("name", LOCKED)
def test_a_lock_file_leads_to_no_private_place(name: str, upstream: Upstream) -> None:
    upstream.publish({"SKILL.md": SKILL})
    url = LOCKED[name].format(folder=upstream.folder.parent)
    with pytest.raises(SourceFailed, match="to git_hosts in") as caught:
        asyncio.run(locked_git_package(Settings(), GitQuery(parse_git_address(url))))
    assert caught.value.code == "refused"


def test_what_the_user_named_before_or_in_the_settings_may_be_locked(upstream: Upstream) -> None:
    upstream.publish({"SKILL.md": SKILL})
    query = GitQuery(parse_git_address(f"file://{upstream.folder}"))
    for hosts in (f"file://{upstream.folder.parent}", f"file://{upstream.folder}"):
        settings = Settings(git_hosts=(hosts,))
        assert asyncio.run(locked_git_package(settings, query)).files
    with pytest.raises(SourceFailed, match="may come from a stranger"):
        asyncio.run(locked_git_package(Settings(), query))  # a lock file does not allow the next
    assert asyncio.run(git_package(Settings(), query)).files
    assert asyncio.run(locked_git_package(Settings(), query)).files
    clear_repositories()
    with pytest.raises(SourceFailed, match="may come from a stranger"):
        asyncio.run(locked_git_package(Settings(), query))
    other = GitQuery(parse_git_address(f"file://{upstream.folder.parent}-other/one.git"))
    settings = Settings(git_hosts=(f"file://{upstream.folder.parent}",))
    with pytest.raises(SourceFailed, match="may come from a stranger"):
        asyncio.run(locked_git_package(settings, other))


@for_each(("anonymous", "sent"), [(False, True), (True, False)])
def test_a_host_that_a_stranger_chose_gets_no_credentials(
    anonymous: bool, sent: bool, tmp_path: Path, git_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = tmp_path / "ask.sh"
    ask.write_text("#!/bin/sh\necho secret\n")
    ask.chmod(0o755)
    monkeypatch.setenv("GIT_ASKPASS", str(ask))
    helper = f"!echo username=me; echo password=$({ask}); :"
    git("config", "--global", "credential.helper", helper, folder=tmp_path)
    git("config", "--global", "http.extraHeader", "X-Token: secret", folder=tmp_path)
    seen: list[str] = []

    def answer(handler: BaseHTTPRequestHandler, body: bytes) -> bool:
        seen.append(f"{handler.headers.get('Authorization')} {handler.headers.get('X-Token')}")
        handler.send_response(401)
        handler.send_header("WWW-Authenticate", 'Basic realm="any"')
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return True

    with http_server(tmp_path, answer=answer) as base:
        runner = Git(str(tmp_path), threading.Event(), anonymous=anonymous)
        with pytest.raises(SourceFailed):
            runner.ask("http", "ls-remote", "--", f"{base}/x.git")
    assert seen
    assert any("Basic" in each or "secret" in each for each in seen) is sent


# --- what is left of a run that is killed ---

ASK = """
import sys
from threading import Event
from skillyard.base.io.processes import Watchdog
from skillyard.install.git.address import parse_git_address
from skillyard.install.git.command import Git
from skillyard.install.git.repository import GitRepository

watch = Watchdog.watch
Watchdog.watch = lambda self, pid: (watch(self, pid), print("watched", flush=True))
GitRepository(parse_git_address(sys.argv[1]), Git("", Event())).commit()
"""


@for_each("scheme", ["git", "http", "ssh"])
def test_git_and_its_children_end_with_a_run_that_is_killed(
    git_home: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    """Git connects itself, by ``git-remote-http``, or by ssh; the connection ends with it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        port = server.getsockname()[1]
        connect = f"import socket; socket.create_connection(('127.0.0.1', {port})).recv(1)"
        ssh = git_home / "ssh"
        ssh.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{connect}"\n')
        ssh.chmod(0o755)
        monkeypatch.setenv("GIT_SSH", str(ssh))
        url = f"{scheme}://127.0.0.1:{port}/one.git"
        command = [sys.executable, "-c", ASK, url]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        connection, _ = server.accept()
        with run, connection:
            assert run.stdout is not None
            assert run.stdout.readline()
            connection.settimeout(30)
            if scheme != "ssh":
                assert connection.recv(65_536)  # what git asks; it waits for the answer
            os.killpg(run.pid, signal.SIGKILL)
            while connection.recv(65_536):
                pass
