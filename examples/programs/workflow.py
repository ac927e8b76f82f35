"""A workflow: the coordinator cascades over strategies and hands out only tools that exist."""

from __future__ import annotations

from pathlib import Path

import skillyard as sy

LIBRARY = Path(__file__).resolve().parent.parent / "skills"


def main() -> None:
    """Resolve by query, then by tag; strictly, then permissively."""
    catalog = sy.load_catalog(LIBRARY)
    tools = {"Read": lambda path: path, "Grep": lambda text: text}
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
