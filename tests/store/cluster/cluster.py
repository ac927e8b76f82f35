"""A primary with a synchronous standby, one address for both, and what happens to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from skillyard.store.opening import open_store
from tests.store.conftest import need_server
from tests.store.servers import USER, Server

__all__ = [
    "DATABASE",
    "DATABASE_OF_NODES",
    "PASSWORD",
    "STANDBY",
    "Cluster",
    "cluster",
    "emptied",
]

DATABASE = "postgres"
DATABASE_OF_NODES = "nodes"
PASSWORD = "swordfish-of-the-owner"
STANDBY = "standby_1"
STREAMING = (
    "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming'"
    " AND sync_state IN ('sync', 'quorum'))"
)


class Cluster:
    """Two servers: publishers and nodes find whichever of them is written to."""

    def __init__(self, primary: Server, standby: Server) -> None:
        self.primary = primary
        self.standby = standby

    @property
    def ports(self) -> tuple[int, int]:
        """Of the first primary and of the first standby: they stay when the roles change."""
        return self.primary.port, self.standby.port

    def url(self, *, ports: Sequence[int] = ()) -> str:
        """Return the address of both; ``ports`` are those of links to them, if there are any."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports or self.ports)
        options = "target_session_attrs=read-write&connect_timeout=2"
        return f"postgresql://{USER}:{PASSWORD}@{hosts}/{DATABASE}?{options}"

    def lose_the_standby(self) -> None:
        """Stop the standby: what is published now is on the primary alone."""
        self.standby.stop("immediate")

    def promote(self) -> None:
        """Let the standby take over from a primary that is dead."""
        if not (self.standby.data / "postmaster.pid").exists():
            self.standby.start()
        self.standby.promote()

    def make_standby_of_the_promoted(self) -> Server:
        """Return a new standby of the server that took over, which waits for it."""
        made = self.standby.replica(STANDBY)
        self.standby.set(synchronous_standby_names=STANDBY)
        self.standby.wait_until(STREAMING)
        return made

    def destroy(self) -> None:
        """Stop both and remove their folders."""
        self.standby.destroy()
        self.primary.destroy()


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Give a filled pair: the catalog is made, and the standby has it."""
    need_server()
    primary = Server.make(durable=True)
    try:
        open_store(primary.url(DATABASE), migrate=True).close()
        standby = primary.replica(STANDBY)
    except BaseException:
        primary.destroy()
        raise
    made = Cluster(primary, standby)
    try:
        primary.set(synchronous_standby_names=STANDBY)
        primary.wait_until(STREAMING)
        yield made
    finally:
        made.destroy()


@contextmanager
def emptied(server: Server) -> Iterator[str]:
    """Give the address of a store without skills in the shared server, dropped at the end."""
    name = DATABASE_OF_NODES
    if not server.sql(f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):
        server.sql(f"CREATE DATABASE {name}")
    url = server.url(name)
    open_store(url, migrate=True).close()
    try:
        yield url
    finally:
        server.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            f" WHERE datname = '{name}' AND pid <> pg_backend_pid()"
        )
        server.sql("DROP SCHEMA IF EXISTS skillyard CASCADE", name)
