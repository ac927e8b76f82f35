"""A workflow: the coordinator cascades over strategies and hands out only tools that exist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import skillyard as sy

LIBRARY = Path(__file__).resolve().parent.parent / "skills"


class Tools:
    """The host's tools by name."""

    def __init__(self, tools: dict[str, Callable[..., str]]) -> None:
        self._tools = tools

    def resolve(self, name: str) -> object | None:
        """Return the tool, or None when the host has none of that name."""
        return self._tools.get(name)

    def available_tools(self) -> Sequence[str]:
        """Return the names of all tools."""
        return sorted(self._tools)


def main() -> None:
    """Resolve by query, then by tag; strictly, then permissively."""
    catalog = sy.load_catalog(LIBRARY)
    tools = Tools({"Read": lambda path: path, "Grep": lambda text: text})
    steps = [sy.ByQuery("tune this slow sql query"), sy.ByTag("fallback")]
    for validation in ("strict", "permissive"):
        config = sy.CoordinatorConfig(sy.SelectionPolicy(min_score=0.5), validation=validation)
        context = sy.ContextCoordinator(catalog, tools, config).resolve(steps)
        if context is None:
            print(f"{validation}: nothing resolves")
            continue
        print(f"{validation}: {context.skill.name}, tools {list(context.tool_names)}")
        for warning in context.warnings:
            print(f"  left out: {warning}")


if __name__ == "__main__":
    main()
