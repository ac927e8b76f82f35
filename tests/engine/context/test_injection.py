"""Injection: which prompts are changed, where the block goes, and what stays as it was."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from tests.parity.trees import write_tree
from tests.tables import for_each
from tests.worked_examples.making import catalog, document, skill

SKILLS = catalog(skill("deploy", "Deploy apps.", "Steps."), skill("review", "Reviews."))
TEXT = "deploy the apps"


def inject(prompt: Any, **options: Any) -> sy.types.Injection:
    return sy.inject(prompt, SKILLS, **{"scorer": "overlap"} | options)


class TestUnchanged:
    @for_each(
        "prompt",
        [
            "",
            "  \n",
            "unheard of",
            [],
            {"role": "system", "content": TEXT},
            {"role": "USER", "content": TEXT},
            {"content": TEXT},
            {"role": "user"},
            {"role": "user", "content": None, "parts": [TEXT]},
            {"role": "user", "content": ""},
            {"role": "user", "content": []},
            {"role": "user", "content": [{"type": "tool_result", "text": TEXT}]},
            {"role": "user", "content": [{"type": "text", "text": 5}, 5]},
            [{"role": "user", "content": TEXT}, {"role": "assistant", "content": "ok"}],
        ],
    )
    def test_what_is_no_text_of_the_user_or_fits_no_skill_stays(self, prompt: Any) -> None:
        before = copy.deepcopy(prompt)
        injection = inject(prompt)
        assert (injection.prompt, injection.match) == (before, None)
        assert isinstance(prompt, str) or injection.prompt is not prompt

    @for_each("prompt", [None, 5, b"bytes", ["text"], {1, 2}, {"role": "user", "content": 5}])
    def test_another_shape_is_wrong_use(self, prompt: Any) -> None:
        with pytest.raises(sy.errors.InvalidInput):
            inject(prompt)


class TestInjector:
    def test_it_is_made_anew_from_what_is_on_disk(self, tmp_path: Path) -> None:
        root = write_tree(tmp_path / "p", {"deploy/SKILL.md": document("deploy", body="Old.")})
        before = sy.SkillInjector.from_root(
            root, sy.InjectorConfig(max_injected_chars=3, scorer="overlap")
        )
        write_tree(root, {"deploy/SKILL.md": document("deploy", body="New steps.")})
        after = before.reloaded()
        assert before.apply("deploy").prompt.startswith("[skill:deploy]\nOld\n")
        assert after.apply("deploy").prompt.startswith("[skill:deploy]\nNew\n")


def test_a_second_injector_puts_no_second_block() -> None:
    skills = [
        sy.Skill("search", "Find code", "kubernetes deploy kubernetes rollout cluster helm"),
        sy.Skill("kubernetes-deploy", "Deploy kubernetes cluster rollout helm", "x"),
    ]
    once = sy.inject("find code search", skills, scorer="overlap")
    twice = sy.inject(once.prompt, skills, scorer="overlap")
    assert twice.prompt == once.prompt


def test_line_ends_of_another_system_are_line_ends_in_a_block() -> None:
    skill = sy.Skill("a", "b", "one\r\ntwo\rthree")
    assert sy.prompt_block(skill) == "[skill:a]\none\ntwo\nthree\n[/skill]"
