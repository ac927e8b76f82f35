"""A store by its address: kinds, paths, options, and what never shows."""

from __future__ import annotations

import logging
import sys
import traceback

import pytest

from skillyard.base.errors import StoreRefused
from skillyard.errors import InvalidInput, SkillyardError
from skillyard.store import opening
from skillyard.store.backend import Options
from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from tests.tables import for_each


def test_an_installed_package_brings_a_kind_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Options]] = []

    def factory(url: str, options: Options) -> CatalogStore:
        asked.append((url, options))
        return open_store("sqlite:///ours.db", migrate=options.migrate)

    monkeypatch.setattr(opening, "_entry_points", lambda: {"ours": lambda: factory})
    with pytest.raises(SkillyardError):
        open_store("ours://somewhere", caller="bob", connections=7)
    assert asked == [("ours://somewhere", Options("bob", connections=7))]


@for_each(
    "url",
    ["", "store.db", "sqlite:", "sqlite:///", "sqlite://x", "sqlite:///a?mode=ro", "sqlite:///\0"],
)
def test_what_is_no_address_is_invalid(url: str) -> None:
    with pytest.raises(InvalidInput):
        open_store(url, migrate=True)


def test_without_the_driver_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreRefused, match=r"pip install .*\[postgres\]"):
        open_store("postgresql://localhost/x")


SECRET = "correct-horse-battery"


@for_each(
    "url",
    [
        f"postgresql://me:{SECRET}@127.0.0.1:1/x",
        f"postgresql://me:{SECRET}@127.0.0.1:notaport/x",
        f"postgresql://me:{SECRET}@[::1/x",
        f"postgresql://me:{SECRET}@127.0.0.1:1/x?nonsense=1",
        f"postgresql://me@127.0.0.1:1/x?password={SECRET}",
        f"postgresql://me:{SECRET}%zz@127.0.0.1:1/x",
        f"me:{SECRET}@host",
        f"mysql://me:{SECRET}@host/x",
    ],
)
def test_credentials_never_show(url: str, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    caplog.set_level(logging.DEBUG)
    with pytest.raises(SkillyardError) as caught:
        open_store(url)
    said = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
    # The test's own source line is not what is tested.
    assert SECRET not in said.replace(f"{url!r}", "")
    assert SECRET not in caplog.text
