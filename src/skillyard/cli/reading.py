"""``list``, ``check`` and ``show``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.quick import Values
from skillyard.cli.source import load, note_unloaded
from skillyard.errors import InvalidInput
from skillyard.text import plural

if TYPE_CHECKING:
    from skillyard.usecases import Checked
    from skillyard.validation.config import CheckConfig

__all__ = ["check", "list_", "show"]

NEGATIVE = 1


def list_(values: Values, console: Console) -> int:
    """Print every skill found."""
    from skillyard.usecases import list_skills

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
    """Print the findings; 1 when one of them fails the check. ``--fix`` mends files before that."""
    from skillyard.usecases import check_paths, fix_paths

    _no_contradiction(values, console)
    paths = values.path or values.root or ["."]
    config = _config(values)
    run = fix_paths if values.fix else check_paths
    found = run(paths, profile=values.profile, config=config, find_config=not values.no_config)
    if values.diff:
        return _diff(found, console)
    if console.json or values.format == "json":
        console.document(found.to_dict())
    elif values.format == "text":
        from skillyard.cli.findings import findings

        console.print(*findings(found))
    else:
        for each in found.refused:
            console.note(f"{each.path}: {each.message}; {each.hint}")
        text = found.render(values.format)
        if text:
            console.write(text)
    return NEGATIVE if found.fails(strict=values.strict) else 0


def _no_contradiction(values: Values, console: Console) -> None:
    if values.fix and values.diff:
        raise InvalidInput("--fix writes and --diff only shows: name one of them")
    if values.diff and (console.json or values.format != "text"):
        raise InvalidInput("--diff prints a diff: leave out --json and --format")
    if values.config and values.no_config:
        raise InvalidInput("--config names a file and --no-config uses none: name one of them")


def _config(values: Values) -> CheckConfig | None:
    if not values.config:
        return None
    from skillyard.validation.config import read_check_config

    return read_check_config(values.config)


def _diff(found: Checked, console: Console) -> int:
    for plan in found.plans:
        console.write(plan.diff())
    console.note(
        f"{found.fixable:,} fixable in {plural(len(found.plans), 'file')}: run with --fix instead"
        if found.plans
        else "nothing is fixable"
    )
    return NEGATIVE if found.plans else 0


def show(values: Values, console: Console) -> int:
    """Print one skill, or the part of it that was asked for."""
    from skillyard.usecases import show_skill

    catalog = load(values, console)
    found = show_skill(catalog, values.name, section=values.section, references=values.references)
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.cards import shown

        console.print(*shown(found))
    return 0
