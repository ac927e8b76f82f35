"""Fields that are blank or name nothing: refused as the description of the service says."""

from __future__ import annotations

import pytest

from tests.serve.http.local_server import Running
from tests.tables import for_each


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_a_source_that_is_not_there_is_refused_to_browsers_and_programs(
    served: Running, accept: str
) -> None:
    for query in ("source=nowhere", "source=&source=%C2%9A", "q=x&source=nowhere"):
        assert served.get(f"/?{query}", headers={"Accept": accept}).status_code == 422, query
    assert served.get("/?source=&source=local", headers={"Accept": accept}).status_code == 200


@for_each("blank", ["\u0085", "\x1f", "\ufeff", " \ufeff ", "\u3000"], ids=ascii)
def test_a_query_of_blanks_is_refused_as_the_schema_says(served: Running, blank: str) -> None:
    import re

    schema = served.get("/openapi.json").json()
    body = schema["paths"]["/search"]["post"]["requestBody"]["content"]["application/json"]
    pattern = body["schema"]["properties"]["query"]["pattern"]
    assert re.search(pattern, blank) is None
    assert served.post("/search", {"query": blank}).status_code == 422
