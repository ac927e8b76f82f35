"""Declared tools against what the host has."""

from __future__ import annotations

from collections.abc import Sequence

import skillyard as sy
from skillyard.engine.context.coordinator import Binding, bind_tools
from tests.worked_examples.making import skill


class Tools:
    """A host with the tools that it was given."""

    def __init__(self, **tools: object) -> None:
        self.tools = tools
        self.asked: list[str] = []

    def resolve(self, name: str) -> object | None:
        self.asked.append(name)
        return self.tools.get(name)

    def available_tools(self) -> Sequence[str]:
        return tuple(self.tools)


def test_each_name_is_looked_up_once_verbatim_and_in_order() -> None:
    host = Tools(Read="r", Bash="b")
    one = skill(allowed_tools=["Bash(git:*)", "Read", "Bash", "Read"])
    assert bind_tools(one, host) == Binding(("Read", "Bash"), ("r", "b"), ("Bash(git:*)",))
    assert host.asked == ["Bash(git:*)", "Read", "Bash"]


def test_a_skill_without_tools_binds_none() -> None:
    assert bind_tools(skill(), Tools(Read="r")) == Binding((), (), ())


def test_anything_with_the_two_methods_is_a_registry() -> None:
    assert isinstance(Tools(), sy.ToolRegistry)
    assert not isinstance({}, sy.ToolRegistry)
