"""The frontmatter fields that ``check`` knows, which are those of the table of fields."""

from __future__ import annotations

from skillyard.check.validation.file_rules import EXTENSION_FIELDS


def test_the_fields_of_each_document_are_known() -> None:
    assert {
        *("version", "tags", "references", "trigger", "hint"),  # adk-skill
        *("keywords", "triggers", "trigger_files", "trigger_keywords"),  # evaluation system
        *("id", "priority", "inputs", "outputs", "safety_notes"),  # Oasis
        *("title", "argument-hint", "user-invocable", "disable-model-invocation"),  # hosts
        *("paths", "when_to_use"),  # Claude Code
        *("requires", "dependencies"),  # agentskills#110 and #485
    } == EXTENSION_FIELDS
