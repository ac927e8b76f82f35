"""A catalog with everything in it that a backup has to keep, and all that a catalog tells."""

from __future__ import annotations

from typing import Any

from skillyard.base.errors import StoreRefused
from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import Grant, Version
from tests.deploy.files import section
from tests.deploy.shell import run
from tests.store.follower_contract import texts
from tests.store.schema_release import fill
from tests.store.servers import Server
from tests.store.skills import key, seen_by, standing

__all__ = ["DATABASE", "check_roles", "everything", "fill_with_grants", "made_logins", "owners_url"]

DATABASE = "skillyard"
READER = "team-a"
_PASSWORD = "of-the-store"


def owners_url(server: Server, options: str = "") -> str:
    """Return the address of the store on a server, for the login that owns it."""
    return server.url(DATABASE, user="skillyard", password=_PASSWORD, options=options)


def made_logins(server: Server, environment: dict[str, str], folder: Any) -> None:
    """Make the logins as the guide says it, one that only reads among them."""
    (block,) = section("The database's logins")
    run(block.text, folder, environment)
    server.sql(f"ALTER ROLE skillyard PASSWORD '{_PASSWORD}'")
    server.sql(f"CREATE ROLE \"{READER}\" LOGIN PASSWORD 'r' IN ROLE skillyard_reader")


def fill_with_grants(store: CatalogStore) -> None:
    """Publish what every released store holds, and let two callers see parts of it."""
    fill(store)
    store.grant(Grant(READER, "acme", "team"))
    store.grant(Grant("bob", "acme", places=("odd", "csv")))


def everything(store: CatalogStore) -> dict[str, Any]:
    """Return all that a store tells: what stands, every version, every grant, the log."""
    page = store.changes(0)
    assert page.complete
    found: dict[str, Any] = {"log": store.generations(), "head": page.generation}
    found["schema"] = store.status().schema_version
    found["standing"] = [_told(version) for version in page.upserts]
    for one in sorted((*page.withdrawals, *(version.key for version in page.upserts))):
        found[f"history of {one}"] = [_told(version) for version in store.history(one)]
    found["grants"] = store.grants()
    for caller in (READER, "bob", "nobody"):
        found[f"seen by {caller}"] = texts(standing(seen_by(store, caller)))
    return found


def _told(version: Version) -> tuple[Any, ...]:
    return (
        *(version.key, version.version, version.generation, version.skill, version.digest),
        *(version.files, version.commit, version.url, version.publisher, version.published_at),
    )


def check_roles(server: Server) -> None:
    """Fail unless a login that only reads sees what it was granted, and nothing else."""
    url = server.url(DATABASE, user=READER, password="r")
    with open_store(url, caller="bob") as pretending:  # it is its own caller, whatever it says
        assert set(texts(standing(pretending))) == {key("csv", namespace="team/eu")}
    with open_store(url) as bare:
        for refused in (
            lambda: standing(bare),
            lambda: bare.withdraw([key("csv")], tenant="acme", publisher="x"),
            lambda: bare.grant(Grant(READER, "other")),
        ):
            try:
                refused()
            except StoreRefused:
                continue
            raise AssertionError("a login that only reads was let in")
