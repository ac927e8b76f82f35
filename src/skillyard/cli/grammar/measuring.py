"""Commands that measure a ranking."""

from __future__ import annotations

from skillyard.cli.grammar.common import SCORER
from skillyard.cli.grammar.shapes import Command, Option

__all__ = ["COMMANDS"]

_JUDGED = Option("--queries", "judged queries; may repeat", "repeat", "FILE", "path", required=True)

_MEASURE = Option(
    "--measure", "a measure by name, as nDCG@10, P@1, R@10, MRR@10; may repeat", "repeat", "NAME"
)

COMMANDS = (
    Command(
        ("bench", "run"),
        "rank skills for the queries of a file",
        "measuring:bench_run",
        (
            Option(
                "--skills",
                "a folder of skills, or one JSON skill a line, .gz or not "
                "(default: the skills of --root)",
                metavar="PLACE",
                type="path",
            ),
            Option(
                "--queries", "one JSON query a line", metavar="FILE", type="path", required=True
            ),
            SCORER,
            Option("--out", "the run file to write", metavar="FILE", type="path", required=True),
            Option(
                "--format",
                "json, or trec: query Q0 id rank score tag (default: json)",
                metavar="FORMAT",
                choices=("json", "trec"),
                default="json",
            ),
        ),
        "Ignores every policy. Up to 50 skills with a score above zero for each query. A query is "
        '{"id", "query", "files"?, "relevant"?: {skill id: grade}, "kind"?}; "request" may stand '
        'for "query", and "expect": [skill id, ...] for "relevant".',
        (
            "skillyard bench run --skills s.jsonl.gz --queries q.jsonl --out run.json",
            "skillyard bench run --skills skills --queries requests.jsonl --out run.json",
        ),
    ),
    Command(
        ("bench", "score"),
        "measure a run against judged queries",
        "measuring:bench_score",
        (
            Option("--run", "a run file", metavar="FILE", type="path", required=True),
            _JUDGED,
            Option(
                "--qrels",
                "TREC judgements, instead of those of the queries",
                metavar="FILE",
                type="path",
            ),
            _MEASURE,
        ),
        "A run is ours (JSON) or TREC's. Means over all queries with 95 % intervals, and by kind.",
        (
            "skillyard bench score --run run.json --queries q.jsonl",
            "skillyard bench score --run run.trec --queries q.jsonl --measure P@3",
        ),
    ),
    Command(
        ("bench", "compare"),
        "say whether a second run is better or worse than a first",
        "measuring:bench_compare",
        (
            Option("FIRST", "a run file", metavar="FIRST", type="path"),
            Option("SECOND", "a run file", metavar="SECOND", type="path"),
            _JUDGED,
            _MEASURE,
            Option(
                "--tolerance",
                "the largest drop of a mean that is fine, whatever chance says (default: 1)",
                metavar="X",
                type="number",
                default=1.0,
            ),
        ),
        "Paired over queries: the difference, its 95 % bootstrap interval, and the p-value of a "
        "sign-flip test. The exit code is 1 when the second run is worse.",
        ("skillyard bench compare before.json after.json --queries q.jsonl",),
    ),
    Command(
        ("bench", "report"),
        "write an HTML report of a run, with plots",
        "measuring:bench_report",
        (
            Option("--run", "a run file", metavar="FILE", type="path", required=True),
            _JUDGED,
            Option("--against", "an earlier run to compare with", metavar="FILE", type="path"),
            Option("--out", "the page to write", metavar="FILE", type="path", required=True),
        ),
        examples=("skillyard bench report --run run.json --queries q.jsonl --out report.html",),
    ),
    Command(
        ("bench", "replay"),
        "ask logged queries again, and list what moved",
        "measuring:bench_replay",
        (Option("LOG", "a decision log, or lines of select --json", metavar="LOG", type="path"),),
        "The exit code is 1 when anything is different.",
        (
            'skillyard select "clean this csv" --json >> log.jsonl',
            "skillyard bench replay log.jsonl",
        ),
    ),
)
