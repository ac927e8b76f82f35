"""The command that starts the service."""

from __future__ import annotations

from skillyard.cli.grammar.common import CALLER, STATE_DIR
from skillyard.cli.grammar.shapes import Command, Option

__all__ = ["COMMANDS"]

COMMANDS = (
    Command(
        ("serve",),
        "answer over HTTP and MCP: search, rank, select, evaluate, why, and the skills themselves",
        "serving:serve",
        (
            Option("PLACE", "the library, before --root (default: .)", "maybe", "ROOT", "folder"),
            Option(
                "--mcp",
                "serve MCP alone: stdio for one client, http at /mcp for many",
                metavar="HOW",
                choices=("stdio", "http"),
            ),
            Option("--http", "serve HTTP with a page, and MCP at /mcp (the default)", "flag"),
            Option(
                "--host",
                "the address to listen on (default: 127.0.0.1)",
                metavar="HOST",
                default="127.0.0.1",
            ),
            Option(
                "--port",
                "the port to listen on (default: 8765; 0 takes a free one)",
                metavar="PORT",
                type="count",
                default=8765,
            ),
            Option(
                "--store",
                "follow this catalog store instead of reading folders (postgresql://…, sqlite:///…)",
                metavar="URL",
            ),
            CALLER,
            STATE_DIR,
            Option(
                "--max-stale",
                "not ready (/readyz) when last up to date longer ago than this (default: never)",
                metavar="SECONDS",
                type="number",
                default=0.0,
            ),
            Option(
                "--log-format",
                "log lines for people (text) or as JSON (default: text on a terminal, else json)",
                metavar="FORM",
                choices=("text", "json"),
            ),
            Option("--local-only", "search the library alone, never a remote", "flag"),
            Option(
                "--allow-host",
                "a name by which clients call the service, through a proxy say; may repeat",
                "repeat",
                "NAME",
            ),
            Option(
                "--allow-origin",
                "a web origin whose pages may ask (https://NAME); may repeat",
                "repeat",
                "ORIGIN",
            ),
            Option(
                "--trust-proxy",
                "an address or network whose X-Forwarded-For names the client; may repeat",
                "repeat",
                "ADDRESS",
            ),
        ),
        "Another address than this machine's, and a name that others use (--allow-host), need a "
        "bearer token: in SKILLYARD_HTTP_TOKEN, or in a file that SKILLYARD_HTTP_TOKEN_FILE names. "
        "Stops on SIGINT and SIGTERM, after the requests that are running.",
        (
            "skillyard serve",
            "skillyard serve ~/skills --local-only --port 9000",
            "skillyard serve --mcp stdio ~/skills",
            "skillyard serve --store postgresql://reader@db/skills --state-dir node",
        ),
    ),
)
