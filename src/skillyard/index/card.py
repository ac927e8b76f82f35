"""A skill as an index gives it: what an answer shows at once, the rest when it is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillyard.arguments import set_field
from skillyard.skill import SKILL_FIELDS, Skill

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillyard.limits import Limits

__all__ = ["SkillCard"]


class SkillCard(Skill):
    """A skill whose fields beyond the card are read from its file by the first who asks for one.

    It is equal to the skill that loading its file gives. A file that has changed since it was
    indexed gives the fields of today beside the card of then; one that is no skill any more, or is
    gone, raises SkillError in whoever asks.
    """

    __slots__ = ("_limits",)

    def __init__(self, card: Mapping[str, Any], limits: Limits) -> None:
        """Take the values of some fields, as a skill holds them, and the limits of reading."""
        for name, value in card.items():
            set_field(self, name, value)
        set_field(self, "_limits", limits)

    def __getattr__(self, name: str) -> Any:
        # Reached for a slot that is empty: everything that the card does not hold.
        if name not in SKILL_FIELDS:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        from skillyard.catalog.entries import refresh  # it loads what reading needs

        self.fill(refresh(self, self._limits))
        return object.__getattribute__(self, name)

    def fill(self, read: Skill) -> None:
        """Take what the card does not hold from the skill that was read."""
        for name in SKILL_FIELDS:
            try:
                object.__getattribute__(self, name)
            except AttributeError:
                set_field(self, name, getattr(read, name))
