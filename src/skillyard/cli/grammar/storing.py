"""Commands for the catalog store."""

from __future__ import annotations

from skillyard.cli.grammar.common import CALLER, STATE_DIR, STORE, limit
from skillyard.cli.grammar.shapes import Command, Option

__all__ = ["COMMANDS"]

_TENANT = Option("--tenant", "whose skills", metavar="TENANT", required=True)
_NAMESPACE = Option(
    "--namespace", "the part of the tenant, words joined by / (default: its top)", metavar="NAME"
)
_SOURCE = Option(
    "--source", "the source of the skills, as owner/repo (default: none)", metavar="NAME"
)
_PUBLISHER = Option(
    "--publisher",
    "who does it, for the log (default: SKILLYARD_PUBLISHER, else the login's name)",
    metavar="NAME",
)
_DURABILITY = Option(
    "--durability",
    "acknowledged when it is on the disk here, or on a standby too (default: local)",
    metavar="WHEN",
    choices=("local", "synchronous"),
    default="local",
)
_PLACES = Option("--place", "only the skill at this place; may repeat", "repeat", "PLACE")

COMMANDS = (
    Command(
        ("store", "init"),
        "make the tables of a catalog store",
        "storing:init",
        (STORE,),
        "A store that is there stays as it is. In PostgreSQL this makes the role skillyard_reader "
        "too, which needs CREATEROLE.",
        ("skillyard store init --store sqlite:///catalog.db",),
    ),
    Command(
        ("store", "migrate"),
        "bring the tables of a catalog store up to date",
        "storing:migrate",
        (STORE,),
        "Steps lead forward only: an older skillyard refuses the store from then on.",
        ("skillyard store migrate",),
    ),
    Command(
        ("store", "publish"),
        "publish skill folders and JSON lines to a catalog store",
        "storing:publish",
        (
            Option(
                "FOLDER",
                "roots with skill folders, before --root (default: ., unless --jsonl is given)",
                "repeat",
                "ROOT",
                "folder",
            ),
            Option(
                "--jsonl",
                "a file with a skill on each line, plain or gzip; - is standard input; may repeat",
                "repeat",
                "FILE",
                "path",
            ),
            STORE,
            _TENANT,
            _NAMESPACE,
            _PUBLISHER,
            Option(
                "--source",
                "the source of skills that name none, as owner/repo (default: none)",
                metavar="NAME",
            ),
            _DURABILITY,
            Option(
                "--jobs", "worker processes (default: one a processor)", metavar="N", type="count"
            ),
            Option(
                "--batch",
                "skills of one generation (default: 2000)",
                metavar="N",
                type="count",
                default=2000,
            ),
            Option(
                "--partition",
                "only the I-th of N parts, so that N machines share the work (default: all)",
                metavar="I/N",
            ),
            Option(
                "--prune", "withdraw what stands under namespace and source and is gone", "flag"
            ),
            Option("--dry-run", "read and compare, and publish nothing", "flag"),
        ),
        "What stands already is neither parsed nor sent, so publishing again, or after an "
        "interrupt, does only what is left. Bad files and lines are told and stop no other; the "
        "exit code is then 1. Interrupted, it ends with 3 after the batch under way.",
        (
            "skillyard store publish skills --tenant acme",
            "skillyard store publish skills --tenant acme --namespace web --prune",
            "skillyard store publish --jsonl dump.jsonl.gz --tenant acme --partition 1/4",
        ),
    ),
    Command(
        ("store", "sync"),
        "bring a node's folder to the store's last generation",
        "syncing:store_sync",
        (
            STORE,
            CALLER,
            STATE_DIR,
            Option(
                "--jobs", "worker processes (default: one a processor)", metavar="N", type="count"
            ),
            Option("--watch", "stay, and follow the store until interrupted", "flag"),
        ),
        "Interrupted, it goes on where it was the next time. A node that serves the folder follows "
        "by itself and wants it for itself.",
        (
            "skillyard store sync --store sqlite:///catalog.db --state-dir node",
            "skillyard store sync --watch",
        ),
    ),
    Command(
        ("store", "withdraw"),
        "take skills out of the catalog; their past stays",
        "storing:withdraw",
        (
            Option("PLACE", "where they stand", "repeat", "PLACE"),
            STORE,
            _TENANT,
            _NAMESPACE,
            _SOURCE,
            _PUBLISHER,
            _DURABILITY,
        ),
        "Exits with 1 when a place held nothing.",
        ("skillyard store withdraw tools/old-one --tenant acme",),
    ),
    Command(
        ("store", "rollback"),
        "make a tenant's skills what they were at a generation",
        "storing:rollback",
        (
            Option("GENERATION", "its number, as the log tells it", type="count"),
            STORE,
            _TENANT,
            _PUBLISHER,
            _DURABILITY,
        ),
        "That is a new generation too, so it can be taken back the same way.",
        ("skillyard store rollback 41 --tenant acme",),
    ),
    Command(
        ("store", "log"),
        "what made the last generations, newest first",
        "storing:log",
        (STORE, limit("show the last K generations", 20)),
        examples=("skillyard store log --limit 5",),
    ),
    Command(
        ("store", "history"),
        "every version of a skill, oldest first",
        "storing:history",
        (Option("PLACE", "where it stands or stood"), STORE, _TENANT, _NAMESPACE, _SOURCE),
        examples=("skillyard store history csv-cleaning --tenant acme",),
    ),
    Command(
        ("store", "status"),
        "how a catalog store is: schema, generation, skills, standbys",
        "storing:status",
        (STORE,),
        examples=("skillyard store status --store postgresql://owner@db/skills",),
    ),
    Command(
        ("store", "grant"),
        "let a caller see a tenant's skills, or some of them",
        "storing:grant",
        (Option("CALLER", "who is to see them"), STORE, _TENANT, _NAMESPACE, _PLACES),
        "A grant of a namespace holds for all below it. Grants add up.",
        (
            "skillyard store grant team-a --tenant acme",
            "skillyard store grant team-b --tenant acme --namespace web --place csv-cleaning",
        ),
    ),
    Command(
        ("store", "revoke"),
        "take back what was granted, or some places of it",
        "storing:revoke",
        (Option("CALLER", "who is to see them no longer"), STORE, _TENANT, _NAMESPACE, _PLACES),
        "Without --place everything of that namespace, lists of places too.",
        ("skillyard store revoke team-a --tenant acme",),
    ),
    Command(
        ("store", "grants"),
        "who may see what",
        "storing:grants",
        (Option("CALLER", "only what this caller may see", "maybe"), STORE),
        examples=("skillyard store grants",),
    ),
)
