"""Commands that evaluate skills."""

from __future__ import annotations

from skillyard.cli.grammar.common import SCORERS
from skillyard.cli.grammar.shapes import Command, Option

__all__ = ["COMMANDS"]

REPORT_FORMATS = ("html", "md", "junit", "github")

_CASES = Option(
    "PATH", "case files or folders, instead of those in config.yaml", "repeat", type="path"
)
_EVALS = Option(
    "--evals-dir",
    "the folder with config.yaml and the cases (default: evals)",
    metavar="DIR",
    type="folder",
    default="evals",
)
_RESULTS = Option(
    "--output-dir",
    "where results and kept answers lie (default: results below the evals folder)",
    metavar="DIR",
    type="folder",
)
_RESULTS_DIR = Option(
    "--results-dir",
    "where results lie (default: results below the evals folder)",
    metavar="DIR",
    type="folder",
)
_EVAL_TYPE = Option(
    "--eval-type",
    "only this one",
    metavar="NAME",
    choices=("activation", "confusion", "effectiveness", "size_impact"),
)
_BASELINES = Option(
    "--baselines-dir",
    "where baselines lie (default: baselines below the evals folder)",
    metavar="DIR",
    type="folder",
)
_GATE = Option("--gate", "exit with 1 when something became worse than its baseline", "flag")
_IN_SKILLS = Option(
    "--in-skills", "read the cases in the skills' own evals/ folders instead", "flag"
)
_SKILL = Option("--skill", "only the cases of this skill", metavar="NAME")
_RUN = (
    _EVALS,
    Option("--dry-run", "print the plan, what is kept, and the price; ask nobody", "flag"),
    Option("--model", "the model that answers", metavar="ID"),
    Option("--judge-model", "the model that judges (default: --model)", metavar="ID"),
    Option(
        "--provider",
        "anthropic, or openai for every server of that protocol",
        metavar="NAME",
        choices=("anthropic", "openai"),
    ),
    Option("--base-url", "ask this server instead of the provider's own", metavar="URL"),
    Option("--runs", "repeat every case N times (default: 1)", metavar="N", type="count"),
    Option("--seed", "of samples, slots and intervals (default: 42)", metavar="N", type="count"),
    _RESULTS,
    Option("--limit", "only N cases, drawn by seed", metavar="N", type="count"),
    Option("--max-cost", "stop before spending more (US dollars)", metavar="USD", type="number"),
    Option("--max-calls", "stop before sending more requests", metavar="N", type="count"),
    Option("--concurrency", "requests in flight at a time", metavar="N", type="count"),
    Option("--regenerate", "make every answer anew", "flag"),
    Option("--replay", "answer from what is kept, without a network", "flag"),
    Option("--resume", "go on with this run, with its settings", metavar="RUN"),
    Option(
        "--format",
        "also write a report: html, md, junit or github; may repeat",
        "repeat",
        "NAME",
        choices=REPORT_FORMATS,
    ),
    _GATE,
    _BASELINES,
)
_JUDGED = (
    Option("--rejudge", "judge every pair anew", "flag"),
    Option(
        "--orders",
        "judge each pair in both orders, or in a single drawn one (default: both)",
        metavar="NAME",
        choices=("both", "single"),
    ),
    Option(
        "--labels",
        "pairs judged by people ({id, winner} a line), to hold the judge against; may repeat",
        "repeat",
        "FILE",
        "path",
    ),
)
_ROUTED = (
    Option(
        "--router",
        "who picks: a scorer, or `model` (default: hybrid, which asks no model)",
        metavar="NAME",
        choices=(*SCORERS, "model"),
    ),
    Option("--top-k", "a scorer picks at most K skills (default: 1)", metavar="K", type="count"),
    Option(
        "--min-score",
        "a scorer's floor (default: its own)",
        metavar="X",
        type="number",
    ),
)
_KEEPS = (
    "Everything that is paid for is kept, so running it again, or after an interrupt, asks only for"
    " what is missing. The exit code is 3 when a budget or an interrupt stopped it, 4 when no case"
    " had a result."
)

COMMANDS = (
    Command(
        ("eval", "activation"),
        "does the router pick the right skills, and none where none fits?",
        "evaluating:activation",
        (_CASES, _SKILL, _IN_SKILLS, *_ROUTED, *_RUN),
        _KEEPS,
        (
            "skillyard eval activation --root skills",
            "skillyard eval activation --router model --model ID --max-cost 1",
        ),
    ),
    Command(
        ("eval", "confusion"),
        "which skill of a group of similar ones is picked?",
        "evaluating:confusion",
        (
            _CASES,
            Option("--group", "only this group", metavar="NAME"),
            Option(
                "--index",
                "show the router the group, or the whole library (default: group)",
                metavar="NAME",
                choices=("group", "library"),
            ),
            *_ROUTED,
            *_RUN,
        ),
        _KEEPS,
        ("skillyard eval confusion --root skills --group reviews",),
    ),
    Command(
        ("eval", "effectiveness"),
        "are answers with a skill better than without, by a rubric?",
        "evaluating:effectiveness",
        (_CASES, _SKILL, _IN_SKILLS, *_JUDGED, *_RUN),
        _KEEPS,
        (
            "skillyard eval effectiveness --root skills --model ID --dry-run",
            "skillyard eval effectiveness --root skills --model ID --max-cost 5 --format html",
        ),
    ),
    Command(
        ("eval", "size-impact"),
        "is the whole skill better than its summary, and than nothing?",
        "evaluating:size_impact",
        (_CASES, _SKILL, *_JUDGED, *_RUN),
        _KEEPS,
        (
            "skillyard eval size-impact --root skills --model ID --dry-run",
            "skillyard eval size-impact --root skills --replay --format html",
        ),
    ),
    Command(
        ("eval", "compare"),
        "compare the latest results with their baselines",
        "evaluating:compare",
        (
            _EVALS,
            _RESULTS_DIR,
            _BASELINES,
            _EVAL_TYPE,
            _GATE,
            Option(
                "--format",
                "how to print: text, md, junit or github (default: text)",
                metavar="NAME",
                choices=("text", "md", "junit", "github"),
                default="text",
            ),
        ),
        "Informational: the exit code is 0 whatever became worse, unless --gate is given.",
        ("skillyard eval compare", "skillyard eval compare --gate --format github"),
    ),
    Command(
        ("eval", "report"),
        "write the report of results: one HTML file, or Markdown, JUnit, GitHub",
        "evaluating:report",
        (
            Option(
                "RESULTS",
                "results files (default: the latest of each type)",
                "repeat",
                type="path",
            ),
            _EVALS,
            _RESULTS_DIR,
            _BASELINES,
            Option(
                "--format",
                "html, md, junit or github (default: html)",
                metavar="NAME",
                choices=REPORT_FORMATS,
                default="html",
            ),
            Option(
                "--out",
                "the file to write; - is standard output (default: below the reports folder)",
                metavar="FILE",
                type="path",
            ),
        ),
        examples=("skillyard eval report", "skillyard eval report --format md --out -"),
    ),
    Command(
        ("eval", "validate-rubrics"),
        "look for faults in rubrics",
        "evaluating:validate_rubrics",
        (
            _EVALS,
            Option(
                "--rubrics-dir",
                "the rubrics (default: rubrics below the evals folder)",
                metavar="DIR",
                type="folder",
            ),
        ),
        "Tells every error with file, line and fix. The exit code is 1 when there is one.",
        ("skillyard eval validate-rubrics --root skills",),
    ),
    Command(
        ("eval", "baseline"),
        "keep the latest results as baselines, or show what is kept",
        "evaluating:baseline",
        (
            Option(
                "ACTION",
                "save or show (default: show)",
                "maybe",
                "ACTION",
                choices=("save", "show"),
            ),
            _EVALS,
            _RESULTS_DIR,
            _BASELINES,
            _EVAL_TYPE,
        ),
        "Refuses results of runs that were stopped, limited, or answered by a stand-in.",
        ("skillyard eval baseline save",),
    ),
    Command(
        ("eval", "init"),
        "write the first cases for a skill, to be edited",
        "evaluating:init",
        (Option("NAME", "name, id or slug of the skill"), _EVALS),
        "Writes a rubric, requests that should and should not activate it, and a candidate; never"
        " over a file that is there.",
        ("skillyard eval init git-bisect --root skills",),
    ),
    Command(
        ("eval", "suggest"),
        "what would make a skill fire where it should, and not where it should not",
        "evaluating:suggest",
        (
            Option("NAME", "name, id or slug of the skill"),
            _CASES,
            _EVALS,
        ),
        examples=("skillyard eval suggest git-bisect --root skills",),
    ),
    Command(
        ("fake-llm",),
        "a server that speaks both APIs and thinks nothing: for tries without a key",
        "evaluating:fake_llm",
        (
            Option(
                "--behaviour",
                "how it judges (default: honest)",
                metavar="NAME",
                choices=("honest", "slot-b", "longer", "obedient"),
                default="honest",
            ),
            Option("--latency-ms", "wait so long before every answer", metavar="N", type="count"),
            Option(
                "--fault",
                "fail the next request so, or the next N (NAME=N), or all (NAME=always); may"
                " repeat",
                "repeat",
                "NAME",
            ),
        ),
        "Listens on this machine alone and prints the variables to set; any text will do as a key."
        " What it answers says nothing about any model or skill, and every result made with it"
        " says so. The server comes with the package skillyard-testkit.",
        ("skillyard fake-llm", "skillyard fake-llm --latency-ms 50 --fault 529=3"),
    ),
)
