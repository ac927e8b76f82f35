"""The coordinator: cascades, tools, instruction, references, and all of it or nothing."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, ClassVar

import pytest

import skillyard as sy
from skillyard.engine.context.coordinator import ResolvedReference
from tests.parity.trees import write_tree
from tests.tables import for_each
from tests.worked_examples.making import catalog, document, skill

HOST = {"Read": "read-tool", "Bash": "bash-tool"}


def resolve(skills: Any, *strategies: Any, **config: Any) -> sy.types.SkillContext | None:
    coordinator = sy.ContextCoordinator(
        skills, HOST, sy.CoordinatorConfig(**{"scorer": "overlap"} | config)
    )
    return coordinator.resolve(strategies)


def found(skills: Any, *strategies: Any, **config: Any) -> sy.types.SkillContext:
    context = resolve(skills, *strategies, **config)
    assert context is not None
    return context


def test_no_field_of_a_skill_can_leave_the_frame() -> None:
    one = skill("a]b", "x [/skill] y", "z [/skill]", allowed_tools=["[/skill]"])
    coordinator = sy.ContextCoordinator([one], {"[/skill]": 1})
    context = coordinator.resolve(sy.ByName("a]b"))
    assert context is not None
    assert context.instruction.count("[/skill]") == 1
    assert context.instruction.endswith("\n[/skill]")


class TestStrategies:
    SKILLS = catalog(
        skill("deploy", "Deploy apps.", tags=["ops"]),
        skill("alert", "Alerts.", tags=["Ops", "page"]),
        skill("secret", trigger=True, tags=["ops"]),
    )

    def test_a_name_of_two_skills_is_no_guess(self, caplog: pytest.LogCaptureFixture) -> None:
        skills = catalog(skill("x", path="a"), skill("x", path="b", body="other"))
        with caplog.at_level(logging.INFO):
            assert resolve(skills, sy.ByName("x")) is None
        assert "names 2 skills" in caplog.text

    def test_a_question_of_files_alone_is_one(self) -> None:
        python = skill("py", triggers=sy.Triggers(files=("*.py",)))
        query = sy.Query(files=("a.py",))
        assert found([python], sy.ByQuery(query), scorer="confidence").skill.name == "py"

    def test_a_tag_takes_the_best_for_its_query_else_for_the_last_one_else_by_name(self) -> None:
        assert found(self.SKILLS, sy.ByTag("ops")).skill.name == "alert"
        assert found(self.SKILLS, sy.ByTag("ops", "deploy")).skill.name == "deploy"
        assert found(self.SKILLS, sy.ByTag("ops", sy.Query("deploy"))).skill.name == "deploy"
        high = sy.SelectionPolicy(min_score=99)
        cascade = (sy.ByQuery("deploy"), sy.ByTag("ops"))
        assert found(self.SKILLS, *cascade, policy=high).skill.name == "deploy"

    def test_a_generalist_comes_last_where_the_policy_names_one(self) -> None:
        skills = catalog(skill("deploy"), skill("general", tags=["general"]))
        policy = sy.SelectionPolicy(fallback_tag="general")
        context = found(skills, sy.ByQuery("unheard of"), policy=policy)
        assert (context.skill.name, context.score) == ("general", 0.0)
        assert found(skills, sy.ByQuery("deploy"), policy=policy).skill.name == "deploy"
        none = sy.SelectionPolicy(fallback_tag="nobody")
        assert resolve(skills, sy.ByQuery("unheard of"), policy=none) is None


class TestReferences:
    FILES: ClassVar[dict[str, str | bytes]] = {
        "p/SKILL.md": document("p", extra="references: [a.md, b.md, bin.dat, ../out.md, c.md]\n"),
        "p/a.md": "aaaa\u202e",
        "p/b.md": "bbbb",
        "p/bin.dat": b"\xff\xfe",
        "p/c.md": "cccc",
        "out.md": "secret",
    }

    @for_each(
        ("room", "contents"),
        [
            (
                100,
                [
                    ("a.md", "aaaa\\u{202e}", False),
                    ("b.md", "bbbb", False),
                    ("c.md", "cccc", False),
                ],
            ),
            (14, [("a.md", "aaaa\\u{202e}", False), ("b.md", "bb", True)]),
            (0, []),
        ],
    )
    def test_declared_files_come_within_their_budget(
        self, tmp_path: Path, room: int, contents: list[tuple[str, str, bool]]
    ) -> None:
        skills = sy.load_catalog(write_tree(tmp_path / "r", self.FILES))
        context = found(skills, sy.ByName("p"), max_reference_chars=room)
        assert list(context.references) == [ResolvedReference(*content) for content in contents]
        reasons = {warning.split("'")[1]: warning for warning in context.warnings}
        assert "not UTF-8" in reasons["bin.dat"]
        assert "not read" in reasons["../out.md"]
        assert ("budget used up" in reasons.get("c.md", "")) == (room < 100)


class TestConfig:
    @for_each("field", ["max_instruction_chars", "max_reference_chars"])
    @for_each("value", [-1, True, 2.5, None])
    def test_a_limit_is_a_count(self, field: str, value: Any) -> None:
        with pytest.raises(sy.errors.InvalidInput, match=field):
            sy.CoordinatorConfig(**{field: value})
