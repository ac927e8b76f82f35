"""Real git servers on loopback: git's daemon, its HTTP backend, ssh, and a path.

Each serves the bare repositories of one folder. ``git daemon`` and ``git http-backend`` are run for
one connection or request at a time, so nothing has to be waited for.
"""

from __future__ import annotations

import base64
import os
import socketserver
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

__all__ = ["KINDS", "GitServer", "Upstream", "git", "http_server", "serve"]

KINDS = ("file", "git", "http", "ssh")
"""``ssh`` is a stand-in for the program."""
SSH_STAND_IN = """\
#!/bin/sh
# Stands in for ssh: notes how it was called and runs git's command here, as a server would.
printf '%s\\n' "$@" >> "$SSH_CALLS"
while [ $# -gt 1 ]; do shift; done
exec sh -c "$1"
"""


def git(*arguments: str, folder: Path, stdin: bytes = b"") -> str:
    """Run git in a folder; return what it prints, without white space at the end."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, input=stdin, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


class Upstream:
    """A bare repository, written to by its owner."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        git("init", "-q", "--bare", "--initial-branch=main", folder=folder)
        git("config", "uploadpack.allowFilter", "true", folder=folder)

    def publish(
        self,
        files: Mapping[str, str | bytes],
        *,
        branch: str = "main",
        tag: str = "",
        executable: tuple[str, ...] = (),
        links: Mapping[str, str] | None = None,
        amend: bool = False,
    ) -> str:
        """Make a commit that holds exactly these files; return its name."""
        contents = {path: _bytes(data) for path, data in files.items()}
        targets = {path: _bytes(target) for path, target in (links or {}).items()}
        lines = [b"commit refs/heads/" + branch.encode(), b"committer t <t@t> 1700000000 +0000"]
        lines += [b"data 1", b"c"]
        known = (
            git("rev-parse", "--verify", "-q", f"refs/heads/{branch}^0", folder=self.folder)
            if (self.has(f"refs/heads/{branch}") and not amend)
            else ""
        )
        lines += [f"from {known}".encode()] if known else []
        lines.append(b"deleteall")
        for path, data in {**contents, **targets}.items():
            mode = "120000" if path in targets else "100755" if path in executable else "100644"
            lines += [f"M {mode} inline {path}".encode(), b"data %d" % len(data), data]
        if amend:
            lines.insert(0, f"reset refs/heads/{branch}".encode())
        stdin = b"\n".join(lines) + b"\n"
        git("fast-import", "--quiet", "--force", folder=self.folder, stdin=stdin)
        commit = git("rev-parse", f"refs/heads/{branch}", folder=self.folder)
        if tag:
            self.point(f"refs/tags/{tag}", commit)
        return commit

    def has(self, ref: str) -> bool:
        return bool(git("for-each-ref", ref, folder=self.folder))

    def point(self, ref: str, commit: str) -> None:
        git("update-ref", ref, commit, folder=self.folder)

    def commit_of(self, entries: Mapping[str, tuple[str, str, str]], branch: str = "main") -> str:
        """Make a commit of a tree with odd entries: name → (mode, type, object)."""
        tree = self.tree_of(entries)
        commit = git("-c", "user.name=t", "-c", "user.email=t@t", "commit-tree", "-m", "c", tree,
                     folder=self.folder)  # fmt: skip
        self.point(f"refs/heads/{branch}", commit)
        return commit

    def tree_of(self, entries: Mapping[str, tuple[str, str, str]]) -> str:
        """Write a tree as it is, whatever git thinks of its names."""
        data = b"".join(
            mode.lstrip("0").encode() + b" " + name.encode() + b"\0" + bytes.fromhex(oid)
            for name, (mode, _, oid) in entries.items()
        )
        arguments = ("hash-object", "-t", "tree", "-w", "--literally", "--stdin")
        return git(*arguments, folder=self.folder, stdin=data)

    def blob(self, data: str | bytes) -> str:
        return git("hash-object", "-w", "--stdin", folder=self.folder, stdin=_bytes(data))


def _bytes(data: str | bytes) -> bytes:
    return data.encode() if isinstance(data, str) else data


class GitServer(NamedTuple):
    """How the repositories of a folder are reached."""

    kind: str
    folder: Path
    base: str
    """What stands before the path of a repository."""
    environment: Mapping[str, str]

    def url(self, name: str) -> str:
        return f"{self.base}/{name}"

    def upstream(self, name: str) -> Upstream:
        return Upstream(self.folder / name)


@contextmanager
def serve(kind: str, folder: Path, scratch: Path) -> Iterator[GitServer]:
    """Serve the repositories of a folder in one of :data:`KINDS`."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        environment: dict[str, str] = {}
        if kind == "file":
            base = f"file://{folder}"
        elif kind == "git":
            base = f"git://127.0.0.1:{stack.enter_context(_daemon(folder))}"
        elif kind == "http":
            base = stack.enter_context(http_server(folder))
        else:
            command = scratch / "ssh"
            command.write_text(SSH_STAND_IN)
            command.chmod(command.stat().st_mode | stat.S_IXUSR)
            environment = {"GIT_SSH": str(command), "SSH_CALLS": str(scratch / "ssh-calls")}
            base = f"ssh://git@git.invalid{folder}"
        yield GitServer(kind, folder, base, environment)


@contextmanager
def _daemon(folder: Path) -> Iterator[int]:
    command = ["git", "daemon", "--inetd", "--export-all", f"--base-path={folder}", str(folder)]

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            subprocess.run(
                command,
                stdin=self.request,
                stdout=self.request,
                stderr=subprocess.DEVNULL,
                check=False,
            )

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server, _running(server):
        yield server.server_address[1]


@contextmanager
def _running(server: socketserver.BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()


Answer = Callable[[BaseHTTPRequestHandler, bytes], bool]
"""Answers a request itself and returns True, or leaves it to git."""


@contextmanager
def http_server(folder: Path, *, login: str = "", answer: Answer | None = None) -> Iterator[str]:
    """Serve a folder with ``git http-backend``; yield the base address.

    ``login`` is ``user:password``, which every request then needs.
    """
    wanted = f"Basic {base64.b64encode(login.encode()).decode()}"

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self) -> None:
            self._serve(b"")

        def do_POST(self) -> None:
            self._serve(self._body())

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            data = b""
            while size := int(self.rfile.readline(), 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            return data

        def _serve(self, body: bytes) -> None:
            if login and self.headers.get("Authorization") != wanted:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.end_headers()
                return
            if answer is not None and answer(self, body):
                return
            path, _, query = self.path.partition("?")
            environment = {
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "REQUEST_METHOD": self.command,
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "REMOTE_ADDR": "127.0.0.1",
            }
            done = subprocess.run(
                ["git", "http-backend"],
                env=environment,
                input=body,
                capture_output=True,
                check=False,
            )
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            headers = [line.partition(": ")[::2] for line in head.decode().split("\r\n")]
            status = dict(headers).get("Status", "200 OK")
            self.send_response(int(status.split()[0]))
            for name, value in headers:
                if name != "Status":
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that was ended in the middle is no fault of the server."""

    with Server(("127.0.0.1", 0), Handler) as server, _running(server):
        yield f"http://127.0.0.1:{server.server_address[1]}"
