"""The scan for malicious techniques, against reading the same 10,000 skills into a catalog.

Ours: ``scan_skills`` in one process. The peer: ``read_catalog``, which walks, hashes and parses the
frontmatter. Both run in this process, one after the other, with the files in the page cache.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.corpus import records, require_corpus, written_out
from benchmarks.measure import Figure, Options, against, take_turns

SUMMARY = "scan 10,000 skills for malicious techniques, against reading them"
ROUNDS = 3
TARGET = 3.0


def run(options: Options) -> Iterator[Figure]:
    from skillyard.check.operations.skill_scan import scan_skills
    from skillyard.engine.catalog import Catalog, read_catalog

    require_corpus(options.shared)
    with written_out(records(options.shared), keep=options.keep) as library:
        root = str(library.root)
        jobs = {
            "scan": [lambda: scan_skills([root], load=lambda: Catalog([]))],
            "read": [lambda: read_catalog(root)],
        }
        samples = take_turns(jobs, options.rounds or ROUNDS)
        yield against(
            f"scan of {library.files:,} skills ({library.megabytes:.0f} MB)",
            ("scan_skills, one process", samples["scan"]),
            ("read_catalog", samples["read"]),
            TARGET,
        )
        counts = scan_skills([root], load=lambda: Catalog([])).counts
        shown = ", ".join(f"{count:,} {severity}" for severity, count in counts.items())
        yield Figure("findings", shown)
