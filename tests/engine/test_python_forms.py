"""Catalogs, selections, injection and coordinators read like Python."""

from __future__ import annotations

import pytest

import skillyard as sy
from skillyard.engine.context.coordinator import ByName, ByQuery, ByTag

PDF = sy.Skill("pdf-forms", "Fills in PDF forms. Use for any PDF form.", "Open it.")
TOOLS = sy.Skill("disk", "Cleans disks.", "Clean.", allowed_tools=("Bash", "Read"))
CATALOG = sy.Catalog.from_skills([PDF, TOOLS])
REQUEST = "fill in this PDF form"


def test_a_catalog_is_asked_by_name() -> None:
    assert CATALOG["pdf-forms"] is CATALOG.get("pdf-forms")
    assert "pdf-forms" in CATALOG
    assert PDF in CATALOG
    assert "no-such-skill" not in CATALOG
    with pytest.raises(sy.SkillNotFound):
        CATALOG["no-such-skill"]


def test_a_selection_is_false_when_nothing_fits() -> None:
    chosen = sy.select(CATALOG, REQUEST)
    assert chosen
    assert chosen.best is chosen.selected[0]
    none = sy.select(CATALOG, "what is the capital of Peru?")
    assert not none
    assert none.best is None


def test_the_catalog_may_come_first() -> None:
    assert sy.inject(CATALOG, REQUEST) == sy.inject(REQUEST, CATALOG)
    message = {"role": "user", "content": REQUEST}
    assert sy.inject(CATALOG, message) == sy.inject(message, CATALOG)
    with pytest.raises(sy.errors.InvalidInput, match="must be a catalog"):
        sy.inject(REQUEST, REQUEST)


def test_what_cannot_be_resolved_says_why() -> None:
    coordinator = sy.ContextCoordinator(CATALOG, {"Bash": object()})
    cascade: list[ByName | ByQuery | ByTag] = [
        sy.ByName("none"),
        sy.ByName("disk"),
        sy.ByQuery("capital of Peru"),
        sy.ByTag("x"),
    ]
    assert coordinator.resolve(cascade) is None
    unresolved = coordinator.try_resolve(cascade)
    assert not unresolved
    no_name, no_tool, no_query, no_tag = unresolved.reasons
    assert "no skill named 'none'" in no_name
    assert "disk: the host has no tool 'Read'" in no_tool
    assert no_query == "ByQuery: no skill fits"
    assert no_tag == "ByTag: no skill fits"
