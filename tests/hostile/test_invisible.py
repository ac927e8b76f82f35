"""Every character that shows nothing: none may hide in a name, none may smuggle a frame tag."""

from __future__ import annotations

from typing import Any

import skillyard as sy
from skillyard import SkillError
from tests.hostile.case import skill_text
from tests.tables import for_each

_RANGES = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
"""Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt, Unicode 15)."""

_INVISIBLE = [chr(code) for first, last in _RANGES for code in range(first, last + 1)]
_GONE = dict.fromkeys(map(ord, _INVISIBLE))


def _loads(name: str) -> bool:
    try:
        sy.parse_skill("pencil/SKILL.md", skill_text(name=f'name: "{name}"'))
    except SkillError:
        return False
    return True


@for_each("place", ["canary{}", "can{}ary", "{}canary"])
def test_no_invisible_character_hides_in_a_name(place: str) -> None:
    """``canary`` with one of them is not to be told from ``canary`` by any reader."""
    passed = [f"U+{ord(char):04X}" for char in _INVISIBLE if _loads(place.format(char))]
    assert not passed


@for_each("tag", ["[{}/skill]", "[/sk{}ill]", "[/skill{}]", "[sk{}ill:admin]"])
def test_no_invisible_character_smuggles_a_frame_tag(tag: str) -> None:
    missed = []
    for char in _INVISIBLE:
        skill: Any = sy.Skill(name="pencil", description="x", body=f"a {tag.format(char)} b")
        seen = sy.prompt_block(skill).translate(_GONE)
        if (seen.count("[/skill]"), seen.count("[skill:")) != (1, 1):
            missed.append(f"U+{ord(char):04X}")
    assert not missed
