"""``list``, ``check`` and ``show``."""

from __future__ import annotations

from skillyard.cli.console import Console
from skillyard.cli.quick import Values
from skillyard.cli.source import load, note_unloaded

__all__ = ["check", "list_", "show"]

NEGATIVE = 1


def list_(values: Values, console: Console) -> int:
    """Print every skill found."""
    from skillyard.service import list_skills

    catalog = load(values, console, values.place)
    found = list_skills(catalog, tags=tuple(values.tag), layout=values.layout)
    if console.json:
        console.document(found.to_dict())
        return 0
    from skillyard.cli.cards import listing

    if found.cards:
        console.print(*listing(found))
    elif len(catalog):
        console.note("no skill has this tag and layout: skillyard list without them shows all")
    note_unloaded(found.diagnostics, values, console)
    return 0


def check(values: Values, console: Console) -> int:
    """Print the findings; 1 when one of them is an error."""
    from skillyard.service import check_paths

    found = check_paths(values.path or values.root or ["."], profile=values.profile)
    if console.json or values.format == "json":
        console.document(found.to_dict())
    elif values.format == "text":
        from skillyard.cli.cards import findings

        console.print(*findings(found))
    else:
        text = found.render(values.format)
        if text:
            console.write(text)
    return NEGATIVE if found.counts["error"] else 0


def show(values: Values, console: Console) -> int:
    """Print one skill, or the part of it that was asked for."""
    from skillyard.service import show_skill

    catalog = load(values, console)
    found = show_skill(catalog, values.name, section=values.section, references=values.references)
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.cards import shown

        console.print(*shown(found))
    return 0
