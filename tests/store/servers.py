"""Real PostgreSQL servers in temporary folders, run by an ordinary user, on loopback.

The server's own binaries are used: those on the path, else the newest of Debian's folders.
"""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import psycopg

__all__ = ["ABSENT", "USER", "Server", "as_ordinary_user", "binaries"]

ABSENT = "there is no PostgreSQL server here: install postgresql-15 or newer"
USER = "owner"
PASSWORD = "swordfish-of-the-owner"
_NEEDED = ("initdb", "pg_ctl", "pg_basebackup", "postgres")
_START_S = 90
_QUICK = ("fsync=off", "full_page_writes=off")
_SETTINGS = (
    "listen_addresses=127.0.0.1",
    "shared_buffers=32MB",
    "max_connections=60",
    "wal_keep_size=64MB",
    "wal_receiver_status_interval=1",
    "log_min_messages=fatal",
)


def binaries() -> Path | None:
    """Return the folder with the server's programs, or None."""
    on_path = shutil.which("initdb")
    folders = [os.path.dirname(os.path.realpath(on_path))] if on_path else []
    found = glob.glob("/usr/lib/postgresql/*/bin")
    folders += sorted(found, key=lambda folder: int(folder.split("/")[-2]), reverse=True)
    for folder in folders:
        if all(os.access(os.path.join(folder, name), os.X_OK) for name in _NEEDED):
            return Path(folder)
    return None


def as_ordinary_user() -> tuple[list[str], int | None]:
    """Return what to put before a command, and the user's number where it is not our own."""
    if os.geteuid() != 0:
        return [], None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    user = known.get("postgres") or known["nobody"]
    ids = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return ["setpriv", *ids], user.pw_uid


_OTHER_PORTS = 2


class Server:
    """One server. ``Server.make()`` is a primary; ``server.replica()`` follows it."""

    def __init__(self, folder: Path, settings: Sequence[str]) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.settings = tuple(settings)
        self.port = _free_port()
        self._started = False

    @classmethod
    def make(cls, *, durable: bool = False) -> Self:
        """Return a running primary. Unless durable, it forgets what it did when power goes."""
        server = cls(_folder(), [*_SETTINGS, *(() if durable else _QUICK)])
        (server.folder / "password").write_text(PASSWORD)
        server._give_away()
        server._run(
            *("initdb", "--no-sync", "--encoding=UTF8", "--locale=C", f"--username={USER}"),
            *("--auth-local=trust", "--auth-host=scram-sha-256"),
            *(f"--pwfile={server.folder / 'password'}", f"--pgdata={server.data}"),
        )
        server.start()
        return server

    def replica(self, name: str) -> Server:
        """Return a running standby of this server, which knows it by ``name``."""
        standby = Server(_folder(), self.settings)
        standby._give_away()
        primary = (
            f"host=127.0.0.1 port={self.port} user={USER} password={PASSWORD}"
            f" application_name={name}"
        )
        standby._run(
            *("pg_basebackup", "--no-sync", "--checkpoint=fast", "--write-recovery-conf"),
            *(f"--dbname={primary}", f"--pgdata={standby.data}"),
        )
        standby.start()
        return standby

    def start(self) -> None:
        """Start it, and return when it takes connections.

        The first time another program may have taken the port meanwhile, and then it gets another.
        """
        for _ in range(0 if self._started else _OTHER_PORTS):
            try:
                self._start()
            except AssertionError:
                self.port = _free_port()
            else:
                return
        self._start()

    def _start(self) -> None:
        settings = [*self.settings, f"port={self.port}", f"unix_socket_directories={self.folder}"]
        options = " ".join(f"-c {setting}" for setting in settings)
        self._ctl("start", "-o", options, "-l", str(self.folder / "log"))
        self._started = True

    def stop(self, mode: str = "fast") -> None:
        """Stop it: ``smart``, ``fast``, or ``immediate``."""
        self._ctl("stop", "-m", mode)

    def kill(self) -> None:
        """End it as kill -9 does; its children see that it is gone and end too."""
        pid = int((self.data / "postmaster.pid").read_text().split()[0])
        children = [
            int(path.parent.name)
            for path in Path("/proc").glob("[0-9]*/stat")
            if _parent(path) == pid
        ]
        os.kill(pid, 9)
        for child in children:
            try:
                os.kill(child, 9)
            except ProcessLookupError:
                pass
        # Nobody may have collected the dead process yet, and then it would seem to hold these.
        for lock in (self.data / "postmaster.pid", *self.folder.glob(".s.PGSQL.*.lock")):
            lock.unlink(missing_ok=True)

    def promote(self) -> None:
        """Make a standby a primary, and return when it is."""
        self._ctl("promote")

    def destroy(self) -> None:
        """Stop it and remove its folder."""
        if (self.data / "postmaster.pid").exists():
            self._ctl("stop", "-m", "immediate", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(
        self, database: str, *, user: str = USER, password: str = PASSWORD, options: str = ""
    ) -> str:
        """Return the address of a database, for ``open_store``."""
        query = f"?{options}" if options else ""
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}{query}"

    def connect(self, database: str = "postgres", *, user: str = USER) -> psycopg.Connection[Any]:
        """Return a connection through the socket, as any user."""
        import psycopg

        return psycopg.connect(
            host=str(self.folder), port=self.port, user=user, dbname=database, autocommit=True
        )

    def sql(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run one statement as the owner and return its rows."""
        with self.connect(database) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def set(self, **settings: str) -> None:
        """Change settings of the running server; return when it knows them."""
        for name, value in settings.items():
            self.sql(f"ALTER SYSTEM SET {name} = '{value}'")
        self.sql("SELECT pg_reload_conf()")
        with self.connect() as connection:
            for name, value in settings.items():
                self.wait(connection, f"SELECT current_setting('{name}') = '{value}'")

    def wait(self, connection: psycopg.Connection[Any], condition: str) -> None:
        """Return when the condition holds; fail after a while."""
        for _ in range(3_000):
            row = connection.execute(condition.encode()).fetchone()
            if row is not None and row[0]:
                return
            connection.execute(b"SELECT pg_sleep(0.01)")
        raise AssertionError(f"never true: {condition}")

    def wait_until(self, condition: str, database: str = "postgres") -> None:
        """Return when the condition holds on this server; fail after a while."""
        with self.connect(database) as connection:
            self.wait(connection, condition)

    def _ctl(self, command: str, *arguments: str, check: bool = True) -> None:
        wait = ("-w", "-t", str(_START_S))
        self._run("pg_ctl", command, "-D", str(self.data), *wait, *arguments, check=check)

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        folder = binaries()
        assert folder is not None, ABSENT
        before, _ = as_ordinary_user()
        with (self.folder / "output").open("ab") as output:
            done = subprocess.run(
                [*before, str(folder / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,  # not a pipe: the server would hold it open
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                timeout=2 * _START_S,
                check=False,
                env={**os.environ, "LC_ALL": "C", "TZ": "UTC"},
            )
        if check and done.returncode != 0:
            said = (self.folder / "output").read_text(errors="replace")
            log = self.folder / "log"
            said += log.read_text(errors="replace") if log.exists() else ""
            raise AssertionError(f"{program} {arguments[0]}: {said[-2_000:]}")

    def _give_away(self) -> None:
        _, uid = as_ordinary_user()
        if uid is not None:
            for path in (self.folder, *self.folder.iterdir()):
                os.chown(path, uid, -1)


def _folder() -> Path:
    # Short, for the socket's name has at most 107 bytes; and not below a folder of root's own.
    return Path(tempfile.mkdtemp(prefix="skillyard-pg-"))


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _parent(stat: Path) -> int:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return -1
