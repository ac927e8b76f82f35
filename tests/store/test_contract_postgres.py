"""PostgreSQL keeps the contract."""

from __future__ import annotations

import pytest

from tests.store.contract import Contract


class TestPostgres(Contract):
    @pytest.fixture
    def url(self, postgres_url: str) -> str:
        return postgres_url
