"""The answer as JSON: Skyll's fields with their types, and ours beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillyard.install.sources.settings import Settings
from skillyard.types import SearchResult
from skillyard_testkit import FakeServers
from tests.install.search.fake_search import (
    by_id,
    searched,
    settings_of,
    skill_text,
)
from tests.install.search.memory import Memory, hit
from tests.testkit.client import ask

BARE = Settings(shipped_registry=False)

TEXT = (str,)
TEXT_OR_NOTHING = (str, type(None))
SKYLL: Mapping[str, tuple[type, ...]] = {
    "id": TEXT,
    "title": TEXT,
    "description": TEXT_OR_NOTHING,
    "version": TEXT_OR_NOTHING,
    "allowed_tools": (list,),
    "source": TEXT,
    "refs": (dict,),
    "install_count": (int,),
    "relevance_score": (float, int),
    "content": TEXT_OR_NOTHING,
    "raw_content": TEXT_OR_NOTHING,
    "metadata": (dict,),
    "references": (list,),
    "fetch_error": TEXT_OR_NOTHING,
}
REFS = {"skills_sh", "github", "raw"}
REFERENCE: Mapping[str, tuple[type, ...]] = {
    "name": TEXT,
    "path": TEXT,
    "content": TEXT_OR_NOTHING,
    "raw_url": TEXT_OR_NOTHING,
}

FILE = """---
name: pdf
description: Extract tables
version: "1.2"
allowed-tools: Bash(git:*) Read
metadata:
  author: someone
  date: 2026-01-01
  weight: .nan
---

# Heading

Body.
"""


@pytest.fixture
def up(up: FakeServers) -> FakeServers:
    """A skill that lies deep in its repository, a pointer, and a skill of a site."""
    files = {"tools/deep/pdf/SKILL.md": FILE, "tools/deep/pdf/references/forms.md": "Forms."}
    up.add_repository("acme/skills", files)
    up.list_skill("acme/skills", "pdf", name="Pdf", installs=500)
    up.list_skill("gone/skills", "pdf-gone", installs=3)
    up.add_well_known("pdf-site", {"SKILL.md": skill_text("pdf-site")})
    return up


def answered(up: FakeServers, **service: Any) -> SearchResult:
    settings = settings_of(up, sites=(up.well_known,), repositories=("acme/skills",))
    return searched("pdf", settings=settings, include_references=True, **service)


def strict(document: Any) -> str:
    """Return the document as JSON that every parser reads: no NaN, no half surrogates."""
    text = json.dumps(document, allow_nan=False, ensure_ascii=False)
    text.encode("utf-8")
    return text


def check_shape(skill: dict[str, Any]) -> None:
    for field, kinds in SKYLL.items():
        assert isinstance(skill[field], kinds), field
    assert type(skill["install_count"]) is int
    assert not isinstance(skill["relevance_score"], bool)
    assert all(isinstance(tool, str) for tool in skill["allowed_tools"])
    assert set(skill["refs"]) >= REFS
    assert all(isinstance(skill["refs"][name], str) for name in ("skills_sh", "github"))
    assert isinstance(skill["refs"]["raw"], TEXT_OR_NOTHING)
    for reference in skill["references"]:
        for field, kinds in REFERENCE.items():
            assert isinstance(reference[field], kinds), field


class TestShape:
    @pytest.mark.parametrize("downloads", [True, False])
    def test_every_skill_has_skylls_fields_with_their_types(
        self, up: FakeServers, downloads: bool
    ) -> None:
        up.switches.downloads = downloads
        document = answered(up).to_dict(include_raw=True, explain=True)
        assert document["query"] == "pdf"
        assert document["count"] == len(document["skills"]) == 3
        for skill in document["skills"]:
            check_shape(skill)
        strict(document)

    def test_the_values_of_a_skill_with_content(self, up: FakeServers) -> None:
        skill = by_id(answered(up))["pdf"].to_dict(include_raw=True)
        assert skill["id"] == "pdf"
        assert skill["description"] == "Extract tables"
        assert skill["version"] == "1.2"
        assert skill["allowed_tools"] == ["Bash(git:*)", "Read"]
        assert skill["source"] == "acme/skills"
        assert skill["install_count"] == 500
        assert skill["content"].strip() == "# Heading\n\nBody."
        assert skill["raw_content"] == FILE
        assert skill["metadata"]["author"] == "someone"
        assert skill["metadata"]["date"] == "2026-01-01"
        assert skill["fetch_error"] is None
        (reference,) = skill["references"]
        assert reference["name"] == "forms.md"
        assert reference["path"] == "references/forms.md"
        assert reference["content"] == "Forms."


class TestRefs:
    def test_the_github_page_is_that_of_the_true_folder_and_the_raw_address_holds_the_file(
        self, up: FakeServers
    ) -> None:
        up.switches.downloads = False
        refs = by_id(answered(up))["pdf"].to_dict()["refs"]
        assert refs["github"].startswith("https://github.com/acme/skills/")
        assert refs["github"].endswith("/tools/deep/pdf")
        assert ask(refs["raw"]).body.decode() == FILE


class TestOurs:
    def test_each_source_is_there_with_what_it_did(self, up: FakeServers) -> None:
        document = answered(up).to_dict()
        assert document["schema"] == "skillyard.search/1"
        assert document["ranker"] == "hybrid"
        assert document["considered"] == 3
        assert document["partial"] is False
        by_name = {source["name"]: source for source in document["sources"]}
        assert by_name["skills.sh"] == {"name": "skills.sh", "state": "ok", "found": 2}
        assert by_name["github"]["found"] == 1
        assert by_name["well-known"]["found"] == 1


class TestHostileValues:
    @settings(max_examples=25)
    @given(
        st.fixed_dictionaries(
            {
                "name": st.text(max_size=30),
                "description": st.text(max_size=30),
                "category": st.text(max_size=10),
            }
        ),
        st.text(min_size=1, max_size=20),
        st.binary(max_size=200),
    )
    def test_any_listing_and_any_file_give_json(
        self, fields: dict[str, Any], skill_id: str, data: bytes
    ) -> None:
        source = Memory([hit("x")._replace(id=skill_id, **fields)], {skill_id: data})
        result = searched("x", settings=BARE, sources=[source])
        (one,) = result.skills
        check_shape(one.to_dict(include_raw=True, explain=True))
        strict(result.to_dict(include_raw=True, explain=True))
