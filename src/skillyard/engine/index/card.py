"""A skill of an index: the fields of the card at once, the others loaded on first access."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillyard.base.arguments import set_field
from skillyard.engine.skill import SKILL_FIELDS, Skill

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillyard.base.limits import Limits


class SkillCard(Skill):
    """A skill that reads its file when a field beyond the card is accessed for the first time.

    It equals the skill that loading the file returns. When the file has changed since it was
    indexed, the loaded fields are the current ones and the card stays as indexed. Accessing a field
    raises SkillError when the file is gone or is no longer a valid skill.
    """

    __slots__ = ("_limits",)

    def __init__(self, card: Mapping[str, Any], limits: Limits) -> None:
        """Take the values of the card's fields, and the limits for reading the file."""
        for name, value in card.items():
            set_field(self, name, value)
        set_field(self, "_limits", limits)

    def __getattr__(self, name: str) -> Any:
        # Called for empty slots only: the fields that are not on the card.
        if name not in SKILL_FIELDS:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        from skillyard.engine.catalog.entries import refresh  # deferred: loads the file readers

        self.fill(refresh(self, self._limits))
        return object.__getattribute__(self, name)

    def fill(self, read: Skill) -> None:
        """Set the fields that are not on the card from the loaded skill."""
        for name in SKILL_FIELDS:
            try:
                object.__getattribute__(self, name)
            except AttributeError:
                set_field(self, name, getattr(read, name))
