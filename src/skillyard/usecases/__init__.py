"""The use cases that the command line, MCP and HTTP share: one function for each.

A surface parses its input, calls one of these functions and prints the result. Every result is an
immutable value whose ``to_dict()`` is the documented JSON, with its ``schema``. Each name loads
its module on first use, so that a command imports only what it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillyard.usecases.benchmarks import (
        BenchCompare,
        BenchReplay,
        BenchRun,
        BenchScore,
        bench_compare,
        bench_replay,
        bench_report,
        bench_run,
        bench_score,
    )
    from skillyard.usecases.checking import Checked, check_paths, fix_paths
    from skillyard.usecases.choosing import (
        Evaluated,
        Ranked,
        Selected,
        evaluate_skills,
        rank_skills,
        select_skills,
    )
    from skillyard.usecases.doctor import Diagnosis, Finding, diagnose
    from skillyard.usecases.library_index import (
        IndexBuilt,
        IndexStatus,
        IndexVerified,
        index_build,
        index_follow,
        index_status,
        index_verify,
    )
    from skillyard.usecases.prompts import (
        HostSummary,
        Injected,
        Summarised,
        host_summary_of,
        inject_prompt,
        summary_of,
    )
    from skillyard.usecases.reading import Card, Listing, list_skills
    from skillyard.usecases.reasons import Why, why_skill
    from skillyard.usecases.remote import (
        CacheCleared,
        CacheState,
        cache_clear,
        cache_stats,
        search_skills,
    )
    from skillyard.usecases.showing import Shown, show_skill
    from skillyard.usecases.skill_install import Added, add_skill

__all__ = [
    "Added",
    "BenchCompare",
    "BenchReplay",
    "BenchRun",
    "BenchScore",
    "CacheCleared",
    "CacheState",
    "Card",
    "Checked",
    "Diagnosis",
    "Evaluated",
    "Finding",
    "HostSummary",
    "IndexBuilt",
    "IndexStatus",
    "IndexVerified",
    "Injected",
    "Listing",
    "Ranked",
    "Selected",
    "Shown",
    "Summarised",
    "Why",
    "add_skill",
    "bench_compare",
    "bench_replay",
    "bench_report",
    "bench_run",
    "bench_score",
    "cache_clear",
    "cache_stats",
    "check_paths",
    "diagnose",
    "evaluate_skills",
    "fix_paths",
    "host_summary_of",
    "index_build",
    "index_follow",
    "index_status",
    "index_verify",
    "inject_prompt",
    "list_skills",
    "rank_skills",
    "search_skills",
    "select_skills",
    "show_skill",
    "summary_of",
    "why_skill",
]

_ROOMS = {
    "skill_install": ("Added", "add_skill"),
    "checking": ("Checked", "check_paths", "fix_paths"),
    "choosing": (
        "Evaluated",
        "Ranked",
        "Selected",
        "evaluate_skills",
        "rank_skills",
        "select_skills",
    ),
    "doctor": ("Diagnosis", "Finding", "diagnose"),
    "library_index": (
        "IndexBuilt",
        "IndexStatus",
        "IndexVerified",
        "index_build",
        "index_follow",
        "index_status",
        "index_verify",
    ),
    "benchmarks": (
        "BenchCompare",
        "BenchReplay",
        "BenchRun",
        "BenchScore",
        "bench_compare",
        "bench_replay",
        "bench_report",
        "bench_run",
        "bench_score",
    ),
    "prompts": (
        "HostSummary",
        "Injected",
        "Summarised",
        "host_summary_of",
        "inject_prompt",
        "summary_of",
    ),
    "reading": ("Card", "Listing", "list_skills"),
    "reasons": ("Why", "why_skill"),
    "remote": ("CacheCleared", "CacheState", "cache_clear", "cache_stats", "search_skills"),
    "showing": ("Shown", "show_skill"),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(f"skillyard.usecases.{room}"), name)
    raise AttributeError(f"module 'skillyard.usecases' has no attribute {name!r}")
