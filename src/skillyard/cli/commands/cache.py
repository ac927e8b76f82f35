"""``cache``: stored answers of remote sources."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.parser import add_command, add_group

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands


def add_cache_stats_command(commands: Commands) -> None:
    """Declare ``cache stats``."""
    add_command(
        commands,
        "stats",
        "show the size of the cache of remote answers",
        run=cache_stats,
        examples=("skillyard cache stats",),
    )


def cache_stats(args: Namespace, console: Console) -> int:
    """Print what the cache holds."""
    from skillyard.usecases.remote import cache_stats as stats

    result = stats()
    from skillyard.cli.remote_views import cache_line

    console.show(result, cache_line)
    return 0


def add_cache_clear_command(commands: Commands) -> None:
    """Declare ``cache clear``."""
    add_command(
        commands,
        "clear",
        "delete the cache of remote answers",
        run=cache_clear,
        examples=("skillyard cache clear",),
    )


def cache_clear(args: Namespace, console: Console) -> int:
    """Forget every remote answer, and say how many there were."""
    from skillyard.usecases.remote import cache_clear as clear

    done = clear()
    from skillyard.cli.remote_views import cleared_line

    console.show(done, cleared_line)
    return 0


def add_cache_group(commands: Commands) -> None:
    """Declare ``cache`` and its commands."""
    group = add_group(commands, "cache", "the cache of remote answers")
    add_cache_stats_command(group)
    add_cache_clear_command(group)


COMMANDS = {"cache": add_cache_group}
