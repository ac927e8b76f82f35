"""An injecting runner: a chat history, the skill's block before the user's own words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import skillyard as sy

LIBRARY = Path(__file__).resolve().parent.parent / "skills"


class Runner:
    """Keeps a chat history; injects into the turn that is sent and stores the plain one."""

    def __init__(self, injector: sy.SkillInjector) -> None:
        self._injector = injector
        self.history: list[dict[str, Any]] = []

    def send(self, text: str) -> str:
        """Return what a model would be sent as the last message."""
        turn = {"role": "user", "content": text}
        injection = self._injector.apply([*self.history, turn])
        self.history += [turn, {"role": "assistant", "content": "…"}]
        return str(injection.prompt[-1]["content"])


def main() -> None:
    """Send two turns: one that a skill fits, one that none fits."""
    injector = sy.SkillInjector.from_root(LIBRARY, sy.InjectorConfig(max_injected_chars=160))
    runner = Runner(injector)
    for text in ("write the meeting notes of this transcript", "thanks, that is all"):
        print(runner.send(text))
        print("---")
    print(f"stored turns: {len(runner.history)}, blocks in history: 0")


if __name__ == "__main__":
    main()
