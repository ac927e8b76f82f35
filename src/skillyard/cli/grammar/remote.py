"""Commands that ask remotes, and what is kept of their answers."""

from __future__ import annotations

from skillyard.cli.grammar.common import EXPLAIN, QUERY, SCORER, SOURCES, limit
from skillyard.cli.grammar.shapes import Command, Option

__all__ = ["COMMANDS"]

COMMANDS = (
    Command(
        ("search",),
        "search marketplaces, repositories and sites for skills that are not here",
        "remote:search",
        (
            QUERY,
            Option(
                "--source",
                "ask this source; may repeat (default: those that the settings enable)",
                "repeat",
                "NAME",
                choices=SOURCES,
            ),
            limit("show at most K skills", 10),
            Option("--references", "fetch the documents beside each skill too", "flag"),
            SCORER,
            EXPLAIN,
        ),
        "Asks every source at once, fetches what they found, and ranks it. A source that fails is "
        "named. Exits with 1 when nothing was found, with 4 when every source failed.",
        (
            'skillyard search "fill in pdf forms"',
            "skillyard search terraform --source registry --source local",
        ),
    ),
    Command(
        ("add",),
        "fetch one skill by name or address, and print it or keep it",
        "remote:add",
        (
            Option("NAME", "a name, owner/repo, owner/repo/id, or an address"),
            Option(
                "--into", "write it to a folder of its name in DIR", metavar="DIR", type="folder"
            ),
            Option("--yes", "also where its name looks like one that is there", "flag"),
        ),
        "Without --into the SKILL.md is printed. With it every file is checked, written beside the "
        "place and renamed; skills-lock.json notes commit and digest. Nothing that was edited is "
        "replaced. Exits with 4 when no source could be asked.",
        (
            "skillyard add pdf",
            "skillyard add anthropics/skills/pdf --into .agents/skills",
            "skillyard add https://example.com#release-notes --into .agents/skills",
        ),
    ),
    Command(
        ("cache", "stats"),
        "what is kept of remote answers",
        "remote:cache_stats",
        (),
        examples=("skillyard cache stats",),
    ),
    Command(
        ("cache", "clear"),
        "forget every remote answer",
        "remote:cache_clear",
        (),
        examples=("skillyard cache clear",),
    ),
)
