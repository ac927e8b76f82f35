#!/usr/bin/env python3
"""Summarise a Terraform or OpenTofu plan: what is destroyed, replaced, opened or merely changed.

Reads the output of `terraform show -json PLANFILE` and prints one JSON document. Attribute
values are never printed, since plans hold secrets in clear text.
Exit status: 0 nothing is lost, 1 something is destroyed or replaced, 2 wrong use or bad input.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

MAX_BYTES = 256 * 1024 * 1024
# Types whose loss is data loss or an outage; matched as parts of the type's name.
STATEFUL = re.compile(
    "db_|_db|database|sql|bucket|volume|disk|efs|kms|dynamodb|secret|queue|topic|zone"
    "|elasticache|redis|cluster|vault"
)


def action_of(actions: list[str]) -> str:
    """Name the planned action; both orders of a replacement count as ``replace``.

    >>> action_of(["delete", "create"]), action_of(["update"]), action_of(["no-op"])
    ('replace', 'update', 'no-op')
    """
    if "delete" in actions and "create" in actions:
        return "replace"
    return actions[0] if actions else "no-op"


def is_stateful(kind: str) -> bool:
    """True for types that hold data or that others hang on.

    >>> is_stateful("aws_db_instance"), is_stateful("aws_lambda_function")
    (True, False)
    """
    return STATEFUL.search(kind) is not None


def dotted(path: list[Any]) -> str:
    """Write an attribute path for people.

    >>> dotted(["ingress", 0, "cidr"])
    'ingress[0].cidr'
    """
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def changed_keys(change: dict[str, Any]) -> list[str]:
    """Names of the top-level attributes that differ, or become known only later."""
    before, after = change.get("before") or {}, change.get("after") or {}
    unknown = change.get("after_unknown") or {}
    names = {*before, *after, *unknown}
    differing = (n for n in names if before.get(n) != after.get(n) or unknown.get(n) is True)
    return sorted(differing)[:30]


def describe(resource: dict[str, Any], action: str) -> dict[str, object]:
    """One resource, without values."""
    change = resource["change"]
    return {
        "address": resource.get("address", "?"),
        "action": action,
        "stateful": is_stateful(str(resource.get("type", ""))),
        "reason": resource.get("action_reason"),
        "forced_by": [dotted(p) for p in change.get("replace_paths") or []],
        "changed": changed_keys(change) if action == "update" else [],
    }


def summarise(plan: dict[str, Any], limit: int) -> tuple[dict[str, object], bool]:
    """Count actions and list what matters, losses first; True when something is lost.

    >>> change = {"actions": ["delete", "create"], "replace_paths": [["engine"]]}
    >>> resource = {"address": "aws_db_instance.a", "type": "aws_db_instance", "change": change}
    >>> summary, lost = summarise({"resource_changes": [resource]}, 10)
    >>> summary["counts"], summary["resources"][0]["forced_by"], lost
    ({'replace': 1}, ['engine'], True)
    """
    weight = {"delete": 0, "replace": 1, "forget": 2, "update": 3, "create": 4}
    rows = []
    counts: Counter[str] = Counter()
    for resource in plan.get("resource_changes") or []:
        action = action_of(resource["change"]["actions"])
        counts[action] += 1
        if action in weight:
            rows.append(describe(resource, action))
    rows.sort(key=lambda r: (weight[str(r["action"])], not r["stateful"], str(r["address"])))
    drift = [r.get("address", "?") for r in plan.get("resource_drift") or []]
    summary = {
        "terraform_version": plan.get("terraform_version"),
        "counts": dict(sorted(counts.items())),
        "stateful_losses": [
            r["address"] for r in rows if r["stateful"] and r["action"] in ("delete", "replace")
        ],
        "drift": drift[:limit],
        "resources": rows[:limit],
        "not_shown": max(0, len(rows) - limit),
    }
    return summary, bool(counts["delete"] or counts["replace"])


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, print the summary as JSON, return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("file", help="plan as JSON, or - for standard input")
    parser.add_argument("--limit", type=int, default=50, help="resources listed (default 50)")
    options = parser.parse_args(arguments)
    try:
        if options.file == "-":
            text = sys.stdin.read(MAX_BYTES + 1)
        else:
            with Path(options.file).open(encoding="utf-8") as stream:
                text = stream.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise ValueError("larger than 256 MiB")
        summary, lost = summarise(json.loads(text), max(1, options.limit))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        print(f"{options.file}: not a plan in JSON ({error})", file=sys.stderr)
        return 2
    print(json.dumps(summary, ensure_ascii=False, indent=1))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
