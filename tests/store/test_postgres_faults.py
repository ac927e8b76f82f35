"""PostgreSQL under faults: logins, cut connections, a full disk, slow and open transactions."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

import pytest

from skillyard.base.errors import StoreRefused, StoreUnavailable
from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import Grant
from tests.store.conftest import need_server
from tests.store.follower_contract import texts
from tests.store.proxy import Wire
from tests.store.servers import PASSWORD, Server
from tests.store.skills import key, seen_by, skill, skills, standing


@pytest.fixture
def store(postgres_url: str) -> Iterator[CatalogStore]:
    with open_store(postgres_url, migrate=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def frail() -> Iterator[Server]:
    """A server that tests stop and start."""
    need_server()
    made = Server.make()
    yield made
    made.destroy()


def test_a_wrong_login_is_refused_and_its_password_shows_nowhere(server: Server) -> None:
    wrong = "Tr0ub4dor-and-3"
    for url in (
        server.url("postgres", password=wrong),
        server.url("postgres", user="nobody_here", password=wrong),
        server.url("no_such_database"),
    ):
        with pytest.raises(StoreRefused) as caught:
            open_store(url)
        said = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
        assert wrong not in said
        assert PASSWORD not in said


@pytest.mark.parametrize("before", [True, False], ids=["not heard", "heard"])
def test_when_the_wire_is_cut_at_the_commit_nobody_can_say_and_a_repeat_finds_out(
    store: CatalogStore, server: Server, database: str, before: bool
) -> None:
    wire = Wire(server.port, b"COMMIT\0", before=before)
    try:
        url = server.url(database, options="sslmode=disable&gssencmode=disable")
        # Opening reads, and its transaction ends without a commit.
        with open_store(url.replace(f":{server.port}/", f":{wire.port}/")) as cut:
            with pytest.raises(StoreUnavailable) as caught:
                cut.publish([skill("a")], tenant="acme", publisher="ci")
            assert caught.value.committed is None
    finally:
        wire.close()
    server.wait_until(
        "SELECT NOT EXISTS (SELECT FROM pg_stat_activity"
        f" WHERE datname = '{database}' AND state LIKE 'idle in%')"
    )
    again = store.publish([skill("a")], tenant="acme", publisher="ci")
    assert (again.generation, again.added, again.unchanged) == (1, before, not before)


def test_a_full_disk_is_named_and_nothing_of_the_publish_stands(
    store: CatalogStore, server: Server, database: str
) -> None:
    server.sql(
        "CREATE FUNCTION skillyard.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION 'could not extend file: No space left on device'"
        " USING ERRCODE = 'disk_full'; END $$",
        database,
    )
    server.sql(
        "CREATE TRIGGER full_disk BEFORE INSERT ON skillyard.versions"
        " FOR EACH ROW EXECUTE FUNCTION skillyard.full_disk()",
        database,
    )
    with pytest.raises(StoreUnavailable, match="disk is full") as caught:
        store.publish(skills(3), tenant="acme", publisher="ci")
    assert caught.value.committed is False
    server.sql("DROP TRIGGER full_disk ON skillyard.versions", database)
    assert (store.generation(), standing(store)) == (0, [])
    assert store.publish(skills(3), tenant="acme", publisher="ci").added == 3


@pytest.mark.slow
def test_a_server_that_restarts_is_found_again_without_a_new_store(frail: Server) -> None:
    with open_store(frail.url("postgres"), migrate=True) as store:
        before = store.publish([skill("restart")], tenant="acme", publisher="ci").generation
        assert store.listen(0, 0) == before
        frail.stop("immediate")
        for attempt in (store.generation, lambda: store.listen(before, 1), store.status):
            with pytest.raises(StoreUnavailable):
                attempt()
        frail.start()
        assert store.generation() == before
        assert store.listen(0, 1) == before
        # Every idle connection knew the old server; each is replaced where it is used.
        frail.stop("fast")
        frail.start()
        assert store.listen(0, 1) == before
        done = store.publish([skill("restart", "two")], tenant="acme", publisher="ci")
        assert done.generation == before + 1


# -- callers, past this package


@pytest.fixture
def login(server: Server, store: CatalogStore) -> Iterator[str]:
    """A login that may read what was granted to its own name, and nothing else."""
    store.publish([skill("ours")], tenant="acme", publisher="ci")
    store.publish([skill("secret")], tenant="other", publisher="ci")
    server.sql("CREATE ROLE node_b LOGIN PASSWORD 'b'")
    server.sql("GRANT skillyard_reader TO node_b")
    store.grant(Grant("node_b", "acme"))
    store.grant(Grant("service", "other"))
    yield "node_b"
    server.sql("DROP OWNED BY node_b")
    server.sql("DROP ROLE node_b")


def test_a_login_is_its_own_caller_whatever_it_says(
    server: Server, database: str, login: str
) -> None:
    url = server.url(database, user=login, password="b")
    with open_store(url, caller="service") as pretending:
        assert set(texts(standing(pretending))) == {key("ours")}
        assert pretending.status().skills == 1
    with open_store(url) as bare, pytest.raises(StoreRefused, match="lacks a right"):
        standing(bare)
    with open_store(url) as bare, pytest.raises(StoreRefused):
        bare.publish([skill("x")], tenant="acme", publisher="node_b")


@pytest.mark.parametrize("role", ["", "SET ROLE skillyard_reader;"])
def test_a_login_has_no_way_around_the_view_in_sql_either(
    server: Server, database: str, login: str, role: str
) -> None:
    import psycopg

    relations = ("entries", "versions", "contents", "generations", "grants", "callers")
    writes = (
        "INSERT INTO skillyard.grants VALUES ('node_b', 'other', '', '')",
        "DELETE FROM skillyard.visible",
        "SET ROLE owner",
        "SET SESSION AUTHORIZATION owner",
        "CREATE FUNCTION skillyard.caller2() RETURNS text LANGUAGE sql AS 'SELECT 1'",
    )
    with server.connect(database, user=login) as connection:
        if role:
            connection.execute(role.encode())
        connection.execute("SET skillyard.caller = 'service'")
        seen = connection.execute("SELECT tenant, place FROM skillyard.visible").fetchall()
        assert seen == [("acme", "ours")]
        for statement in (*(f"SELECT * FROM skillyard.{name}" for name in relations), *writes):
            # A view of several tables takes no writes from anybody.
            refused = (
                psycopg.errors.InsufficientPrivilege,
                psycopg.errors.ObjectNotInPrerequisiteState,
            )
            with pytest.raises(refused):
                connection.execute(statement.encode())
        # A filter of one's own runs after the view's, not before: a leak would raise here.
        spying = "SELECT place FROM skillyard.visible WHERE 1 / (length(tenant) - 5) <> 0"
        assert len("other") == 5
        assert connection.execute(spying.encode()).fetchall() == [("ours",)]


def test_an_owner_without_more_rights_than_its_database_can_run_a_store(server: Server) -> None:
    # The role is there: the first store on the server made it.
    server.sql("CREATE ROLE plain LOGIN PASSWORD 'p'")
    server.sql("CREATE DATABASE plain_store OWNER plain")
    try:
        server.sql(
            "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'skillyard_reader')"
            " THEN CREATE ROLE skillyard_reader; END IF; END $$"
        )
        with open_store(
            server.url("plain_store", user="plain", password="p"), migrate=True
        ) as store:
            store.publish([skill("a")], tenant="acme", publisher="ci")
            store.grant(Grant("bob", "acme"))
            with pytest.raises(StoreRefused, match="lacks a right"):
                standing(seen_by(store, "bob"))
            server.sql("GRANT skillyard_reader TO plain")
            assert set(texts(standing(seen_by(store, "bob")))) == {key("a")}
            assert standing(seen_by(store, "alice")) == []
    finally:
        server.sql("DROP DATABASE plain_store WITH (FORCE)")
        server.sql("DROP ROLE plain")


def test_an_older_server_is_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch, postgres_url: str
) -> None:
    from skillyard.store.backends import postgres

    monkeypatch.setattr(postgres, "OLDEST", 10**6)
    with pytest.raises(StoreRefused, match="15 or later is needed"):
        open_store(postgres_url)
