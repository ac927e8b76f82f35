"""``search``, ``add``, ``cache stats`` and ``cache clear``."""

from __future__ import annotations

from skillyard.cli.console import Console, complain
from skillyard.cli.quick import Values

__all__ = ["add", "cache_clear", "cache_stats", "search"]

NEGATIVE = 1
UNREACHED = 4


def search(values: Values, console: Console) -> int:
    """Print what the sources found; 1 when that is nothing, 4 when every one of them failed."""
    from skillyard.cli.source import load, words_of
    from skillyard.usecases import search_skills

    catalog = load(values, console, indexed=True) if "local" in values.source else None
    found = search_skills(
        words_of(values.query) or "",
        sources=values.source or None,
        limit=values.limit,
        references=values.references,
        ranker=values.scorer,
        catalog=catalog,
    )
    if console.json:
        console.document(found.to_dict(explain=values.explain))
    else:
        from skillyard.cli.remote_views import found_skills

        empty = catalog is not None and not len(catalog) and len(found.sources) == 1
        console.print(*found_skills(found, explain=values.explain, empty=empty))
    for status in found.sources:
        if status.state == "ok" or console.json:
            continue
        say = complain if found.failed else console.note  # the reason of an exit code is said
        say(f"skillyard: {status.name}: {status.message}")
    if found.failed:
        return UNREACHED
    return 0 if found.count else NEGATIVE


def add(values: Values, console: Console) -> int:
    """Print one skill, or write it to a folder and say what was written."""
    from skillyard.usecases import add_skill

    added = add_skill(values.name, into=values.into, accept_look_alike=values.yes)
    if console.json:
        console.document(added.to_dict())
    elif added.placed is None:
        console.write(added.found.raw)
    else:
        from skillyard.cli.remote_views import added_skill

        console.print(*added_skill(added))
    return 0


def cache_stats(values: Values, console: Console) -> int:
    """Print what the cache holds."""
    from skillyard.usecases import cache_stats as stats

    found = stats()
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.remote_views import cache_line

        console.print(cache_line(found))
    return 0


def cache_clear(values: Values, console: Console) -> int:
    """Forget every remote answer, and say how many there were."""
    from skillyard.usecases import cache_clear as clear

    done = clear()
    if console.json:
        console.document(done.to_dict())
    else:
        from skillyard.cli.remote_views import cleared_line

        console.print(cleared_line(done))
    return 0
