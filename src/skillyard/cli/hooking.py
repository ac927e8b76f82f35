"""``hook claude-code``, ``hook codex``, ``hook install`` and ``hook uninstall``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.quick import Values

if TYPE_CHECKING:
    from skillyard.hook.installation import InstallResult

__all__ = ["hook_claude_code", "hook_codex", "hook_install", "hook_uninstall"]

NEGATIVE = 1


def hook_claude_code(values: Values, console: Console) -> int:
    """Answer one prompt of Claude Code; always 0."""
    return _answered("claude-code", values)


def hook_codex(values: Values, console: Console) -> int:
    """Answer one prompt of Codex; always 0."""
    return _answered("codex", values)


def _answered(host: str, values: Values) -> int:
    from skillyard.hook.runner import HookOptions, run

    wishes = HookOptions(
        tuple(values.root),
        values.max_chars,
        values.min_score,
        refresh=not values.no_refresh,
        wrong_cost=values.wrong_cost,
        perhaps=not values.no_perhaps,
    )
    return run(host, wishes, budget_ms=values.budget_ms)


def hook_install(values: Values, console: Console) -> int:
    """Put the hook into the settings, and make the index that it answers from."""
    from skillyard.cli.progress import progress
    from skillyard.errors import SkillyardError
    from skillyard.hook.installation import install
    from skillyard.hook.library import library_place
    from skillyard.hook.trust import project_above
    from skillyard.index.indexed import indexing_is_off, open_place

    options = _options(values)
    done = [install(host, file=values.file, options=options) for host in _hosts(values, there=True)]
    project = project_above(os.getcwd())
    roots = tuple(map(os.path.abspath, values.root))
    place = library_place(roots, project.path if project else None)
    try:
        with progress("indexing", console) as step:
            if not indexing_is_off():
                open_place(place, progress=step)
    except SkillyardError as error:  # the hook makes it in the background as well
        console.note(f"the index was not made: {error}")
    if console.json:
        settings = [one.to_dict() for one in done]
        console.document({"schema": "skillyard.hook-install/1", "settings": settings})
    else:
        _show(done, console)
    return 0


def hook_uninstall(values: Values, console: Console) -> int:
    """Take the hook out of the settings; 1 when it was in none of them."""
    from skillyard.hook.installation import uninstall

    done = [uninstall(host, file=values.file) for host in _hosts(values, there=False)]
    if console.json:
        settings = [one.to_dict() for one in done]
        console.document({"schema": "skillyard.hook-uninstall/1", "settings": settings})
    else:
        _show(done, console)
    return 0 if any(one.state == "removed" for one in done) else NEGATIVE


def _hosts(values: Values, *, there: bool) -> list[str]:
    """Return the hosts that are meant. Raises InvalidInput when that cannot be told."""
    from skillyard.errors import InvalidInput
    from skillyard.hook.hosts import HOSTS

    if values.host is not None:
        return [values.host]
    if values.file is not None:
        raise InvalidInput("whose settings are these? name the host: claude-code or codex")
    found = [host.name for host in HOSTS if not there or os.path.isdir(host.home())]
    if not found:
        homes = " or ".join(host.home() for host in HOSTS)
        raise InvalidInput(f"no host's settings folder is there ({homes}); name the host")
    return found


def _options(values: Values) -> tuple[str, ...]:
    """Return the options that the installed command gets: those that are not the default.

    Raises InvalidInput for a floor that cannot be: the hook itself would only fall silent.
    """
    from skillyard.selection import SelectionPolicy

    SelectionPolicy(min_score=values.min_score, wrong_cost=values.wrong_cost)
    given: list[str] = []
    for root in values.root:
        given += ["--root", os.path.abspath(root)]
    if values.max_chars:
        given += ["--max-chars", str(values.max_chars)]
    if values.min_score is not None:
        given += ["--min-score", f"{values.min_score:g}"]
    if values.wrong_cost is not None:
        given += ["--wrong-cost", f"{values.wrong_cost:g}"]
    if values.no_perhaps:
        given.append("--no-perhaps")
    if values.budget_ms != 500:
        given += ["--budget-ms", str(values.budget_ms)]
    if values.no_refresh:
        given.append("--no-refresh")
    return tuple(given)


def _show(done: list[InstallResult], console: Console) -> None:
    from skillyard.cli.blocks import Span, line

    for one in done:
        style = "medium" if one.state == "absent" else "high"
        console.print(line(Span(one.state, style), f"  {one.host}  ", Span(one.file, "name")))
        if one.note:
            console.print(line(one.note, indent=1))
