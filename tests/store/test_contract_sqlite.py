"""SQLite keeps the contract."""

from __future__ import annotations

import pytest

from tests.store.contract import Contract


class TestSqlite(Contract):
    @pytest.fixture
    def url(self, sqlite_url: str) -> str:
        return sqlite_url
