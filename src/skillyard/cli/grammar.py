"""The grammar of the command line as data: every command and every option, each with its help.

The parser, the help, the completion scripts and the tests are made from these tables. Exit codes:
0 done, 1 the command's own negative answer, 2 wrong use or unreadable input, 3 interrupted, 4 no
remote could be asked.
"""

from __future__ import annotations

from skillyard.value import NamedTuple

__all__ = ["COMMANDS", "GLOBAL", "OPEN", "PROGRAM", "Command", "Option", "find"]

PROGRAM = "skillyard"


class Option(NamedTuple):
    """One option, or one argument when ``flag`` has no dashes."""

    flag: str
    help: str
    kind: str = "value"
    """``value``, ``flag`` (takes none), ``repeat``; for arguments also ``maybe`` and ``words``."""
    metavar: str = ""
    type: str = "text"
    """``text``, ``count`` (a whole number from 0), ``number``, ``path`` or ``folder``."""
    choices: tuple[str, ...] = ()
    default: str | int | float | None = None
    required: bool = False

    @property
    def dest(self) -> str:
        """The attribute that holds the value."""
        return self.flag.lstrip("-").replace("-", "_").lower()

    @property
    def positional(self) -> bool:
        """True for an argument."""
        return not self.flag.startswith("-")


class Command(NamedTuple):
    """One command. ``words`` is what is typed; ``run`` is the function, ``module:name``."""

    words: tuple[str, ...]
    help: str
    run: str
    options: tuple[Option, ...]
    about: str = ""
    """More for its help page."""
    examples: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The words with blanks between."""
        return " ".join(self.words)


SCORERS = ("confidence", "hybrid", "overlap", "relevance", "triggers")
"""Offered by completion; installed packages may bring more."""
SOURCES = ("registry", "skills.sh", "github", "well-known", "servers", "local")
"""Offered by completion; installed packages may bring more."""
OPEN = frozenset({"scorer", "source"})
"""Options whose choices are only offered: what is taken is known when the command runs."""
LAYOUTS = ("agentskills", "runtime", "oasis", "convention")

GLOBAL = (
    Option(
        "--root",
        "look for skills below this folder; may repeat, the first one wins (default: .)",
        "repeat",
        "DIR",
        "folder",
    ),
    Option("--scope", "also read the user's agent folders", "repeat", "SCOPE", choices=("user",)),
    Option("--json", "print one JSON document with a schema field", "flag"),
    Option(
        "--color",
        "colours and tables: auto (on a terminal, unless NO_COLOR is set), always, never",
        metavar="WHEN",
        choices=("auto", "always", "never"),
        default="auto",
    ),
    Option("--quiet", "no notes and no progress on standard error", "flag"),
)

_QUERY = Option("QUERY", "what is to be done, in words; - reads it from standard input", "words")
_SCORER = Option("--scorer", "how to score (default: hybrid)", metavar="NAME", choices=SCORERS)
_INJECTION_SCORER = Option(
    "--scorer", "how to score (default: overlap)", metavar="NAME", choices=SCORERS
)
_TAG = Option("--tag", "only skills with this tag; may repeat", "repeat", "TAG")
_NOT_TAG = Option("--not-tag", "no skills with this tag; may repeat", "repeat", "TAG")
_FILES = Option(
    "--files",
    "a path in play, matched with file patterns, never opened; may repeat",
    "repeat",
    "PATH",
    "path",
)
_RECENT = Option("--recent", "something that was done recently; may repeat", "repeat", "WHAT")
_EXPLAIN = Option("--explain", "show the tree behind each score", "flag")
_REFERENCES = Option("--references", "count reference documents (relevance only)", "flag")
_MIN_SCORE = Option(
    "--min-score",
    "the floor below which nothing is chosen (default: the scorer's own)",
    metavar="X",
    type="number",
)
_FALLBACK = Option("--fallback", "when nothing passes, take a skill with this tag", metavar="TAG")


def _limit(what: str, default: int | None) -> Option:
    shown = f" (default: {default})" if default is not None else ""
    return Option("--limit", f"{what}{shown}", metavar="K", type="count", default=default)


_JUDGED = Option("--queries", "judged queries; may repeat", "repeat", "FILE", "path", required=True)
_MEASURE = Option(
    "--measure", "a measure by name, as nDCG@10, P@1, R@10, MRR@10; may repeat", "repeat", "NAME"
)
_HOST = Option("HOST", "claude-code or codex", "maybe", "HOST", choices=("claude-code", "codex"))
_HOOK_OPTIONS = (
    Option(
        "--max-chars",
        "put at most N characters of the instructions into the answer (default: 0)",
        metavar="N",
        type="count",
        default=0,
    ),
    _MIN_SCORE,
    Option(
        "--budget-ms",
        "answer nothing rather than later than this (default: 500)",
        metavar="N",
        type="count",
        default=500,
    ),
    Option("--no-refresh", "never bring the index up to date in the background", "flag"),
)
_INDEX_ROOT = Option("PLACE", "the library, before --root (default: .)", "maybe", "ROOT", "folder")

COMMANDS = (
    Command(
        ("list",),
        "every skill found",
        "reading:list_",
        (
            Option(
                "PLACE", "the folder to look below, instead of --root", "maybe", "ROOT", "folder"
            ),
            _TAG,
            Option("--layout", "only skills of this layout", metavar="LAYOUT", choices=LAYOUTS),
        ),
        "Lists name, layout, estimated tokens and tags of every skill, and the files that did not"
        " load.",
        ("skillyard list", "skillyard list ~/skills --tag git", "skillyard list --json"),
    ),
    Command(
        ("check",),
        "look for faults in skill files",
        "reading:check",
        (
            Option(
                "PATH", "skill files, skill folders or roots (default: .)", "repeat", type="path"
            ),
            Option(
                "--profile",
                "lenient (what loads), spec (agentskills.io) or reference (its validator)",
                metavar="NAME",
                choices=("lenient", "spec", "reference"),
                default="lenient",
            ),
            Option(
                "--format",
                "how to print: text, json, sarif, github",
                metavar="NAME",
                choices=("text", "json", "sarif", "github"),
                default="text",
            ),
        ),
        "Exits with 1 when a finding is an error.",
        (
            "skillyard check",
            "skillyard check --profile spec skills/",
            "skillyard check --format sarif",
        ),
    ),
    Command(
        ("show",),
        "one skill: card, outline, instructions, files",
        "reading:show",
        (
            Option("NAME", "name, id or slug of the skill"),
            Option(
                "--section",
                "only this part: card, outline, body, files, or a heading of the instructions",
                metavar="S",
            ),
            Option("--references", "also print the documents beside the skill", "flag"),
        ),
        examples=("skillyard show git-bisect", "skillyard show git-bisect --section Steps"),
    ),
    Command(
        ("rank",),
        "rank the skills for a request",
        "choosing:rank",
        (
            _QUERY,
            _FILES,
            _RECENT,
            _SCORER,
            _limit("show at most K skills", 10),
            _TAG,
            _NOT_TAG,
            _REFERENCES,
            _EXPLAIN,
        ),
        "Shows the ranking as it is, without a floor. Exits with 1 when no skill has a score.",
        ('skillyard rank "review a terraform plan"', "skillyard rank fix the flaky test --explain"),
    ),
    Command(
        ("select",),
        "choose skills for a request, or abstain",
        "choosing:select",
        (
            _QUERY,
            _FILES,
            _RECENT,
            _SCORER,
            _MIN_SCORE,
            Option(
                "--top-k", "choose at most K (default: the scorer's own)", metavar="K", type="count"
            ),
            _FALLBACK,
            _limit("name at most K of the others", None),
            _TAG,
            _NOT_TAG,
            _REFERENCES,
            _EXPLAIN,
        ),
        "Exits with 1 when it abstains.",
        ('skillyard select "clean this csv file"', 'skillyard select "hello" --fallback general'),
    ),
    Command(
        ("evaluate",),
        "confidence by file patterns and keywords (skill_evaluate)",
        "choosing:evaluate",
        (
            Option("--text", "the user's words; - reads them from standard input", metavar="T"),
            _FILES,
            _RECENT,
            Option(
                "--threshold",
                "least confidence, 0 to 1 (default: 0.3)",
                metavar="X",
                type="number",
                default=0.3,
            ),
            _limit("at most K results", 10),
            Option("--details", "add the details of the best matches to the message", "flag"),
        ),
        "Exits with 1 when no skill reaches the threshold.",
        ('skillyard evaluate --text "test the login form" --files tests/login.spec.ts',),
    ),
    Command(
        ("why",),
        "why a skill stands where it stands, and what beats it",
        "choosing:why",
        (
            Option("NAME", "name, id or slug of the skill"),
            _QUERY,
            _FILES,
            _RECENT,
            _SCORER,
            _limit("show at most K skills that rank higher", 5),
            _TAG,
            _NOT_TAG,
            _REFERENCES,
            Option("--explain", "also show the trees of the skills that rank higher", "flag"),
        ),
        examples=('skillyard why git-bisect "find the commit that broke the build"',),
    ),
    Command(
        ("summary",),
        "the catalogue of skills for a system prompt",
        "prompting:summary",
        (
            Option(
                "--format",
                "lines, xml or markdown (default: lines)",
                metavar="NAME",
                choices=("lines", "xml", "markdown"),
                default="lines",
            ),
            Option("--budget-tokens", "fit into N estimated tokens", metavar="N", type="count"),
            Option("--query", "when not all fit, keep those that rank first for Q", metavar="Q"),
            _SCORER,
            Option(
                "--host",
                "show what this host lists, and which descriptions it cuts or drops",
                metavar="NAME",
                choices=("claude-code", "codex", "copilot-cli", "vscode"),
            ),
            Option(
                "--window",
                "with --host: the model's context in tokens (default: 200000)",
                metavar="N",
                type="count",
                default=200_000,
            ),
            Option(
                "--budget",
                "with --host: another budget than its own, in its unit",
                metavar="N",
                type="count",
            ),
            Option(
                "--fit",
                "with --host: rewrite the listing to fit, by --query, by --use or by priority",
                "flag",
            ),
            Option(
                "--use",
                "with --host: a decision log, or JSON lines with ids, that says what was used",
                metavar="FILE",
                type="path",
            ),
        ),
        examples=(
            "skillyard summary --format xml --budget-tokens 800",
            "skillyard summary --host claude-code",
            "skillyard summary --host codex --fit --use decisions.jsonl",
        ),
    ),
    Command(
        ("inject",),
        "the prompt with the best skill's instructions before it",
        "prompting:inject",
        (
            Option(
                "QUERY",
                "the prompt; with --file, what to choose the skill by (default: the prompt)",
                "words",
            ),
            Option(
                "--max-chars",
                "at most N characters of instructions (default: 2000)",
                metavar="N",
                type="count",
                default=2_000,
            ),
            Option(
                "--file",
                "read the prompt from this file; - is standard input",
                metavar="PROMPT",
                type="path",
            ),
            _INJECTION_SCORER,
            _MIN_SCORE,
            _FALLBACK,
            _TAG,
            _NOT_TAG,
        ),
        "When no skill fits, the prompt is printed as it is, and the exit code is 0.",
        ('skillyard inject "clean this csv file"', "skillyard inject --file prompt.txt"),
    ),
    Command(
        ("search",),
        "search marketplaces, repositories and sites for skills that are not here",
        "remote:search",
        (
            _QUERY,
            Option(
                "--source",
                "ask this source; may repeat (default: those that the settings enable)",
                "repeat",
                "NAME",
                choices=SOURCES,
            ),
            _limit("show at most K skills", 10),
            Option("--references", "fetch the documents beside each skill too", "flag"),
            Option(
                "--scorer",
                "how to rank what was found (default: relevance)",
                metavar="NAME",
                choices=SCORERS,
            ),
            _EXPLAIN,
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
        ),
        "Listens on this machine alone unless SKILLYARD_HTTP_TOKEN is set. Stops on SIGINT and "
        "SIGTERM, after the requests that are running.",
        (
            "skillyard serve",
            "skillyard serve ~/skills --local-only --port 9000",
            "skillyard serve --mcp stdio ~/skills",
        ),
    ),
    Command(
        ("hook", "claude-code"),
        "answer a prompt hook of Claude Code from standard input",
        "hooking:hook_claude_code",
        _HOOK_OPTIONS,
        "Reads the host's JSON, prints the skill that fits and why, or nothing. Looks at the user's"
        " agent folders, at --root, and at a project that `skillyard trust` has approved. Exits"
        " with 0 whatever comes.",
        ("skillyard hook claude-code < payload.json",),
    ),
    Command(
        ("hook", "codex"),
        "answer a prompt hook of Codex from standard input",
        "hooking:hook_codex",
        _HOOK_OPTIONS,
        "As `skillyard hook claude-code`, which says more.",
        ("skillyard hook codex < payload.json",),
    ),
    Command(
        ("hook", "install"),
        "put the prompt hook into a host's settings",
        "hooking:hook_install",
        (
            _HOST,
            Option(
                "--file",
                "this settings file instead of the user's own",
                metavar="SETTINGS",
                type="path",
            ),
            *_HOOK_OPTIONS,
        ),
        "Without HOST: every host whose settings folder is there. The hook gets the options named"
        " here, and --root. Doing it again changes nothing; all else in the file stays as it is.",
        ("skillyard hook install", "skillyard hook install codex --max-chars 2000"),
    ),
    Command(
        ("hook", "uninstall"),
        "take the prompt hook out of a host's settings",
        "hooking:hook_uninstall",
        (
            _HOST,
            Option(
                "--file",
                "this settings file instead of the user's own",
                metavar="SETTINGS",
                type="path",
            ),
        ),
        "Takes out what `skillyard hook install` put there, and nothing else. The exit code is 1"
        " when there was nothing to take out.",
        ("skillyard hook uninstall claude-code",),
    ),
    Command(
        ("trust",),
        "approve the skills of a project for the prompt hook",
        "trusting:trust",
        (
            Option("DIR", "the project (default: .)", "maybe", "DIR", "folder"),
            Option("--revoke", "take the approval back", "flag"),
            Option("--list", "list the projects that are approved", "flag"),
        ),
        "Approves every skill of the project as it is now, with the files beside it. What is "
        "edited, added or moved later is not used until this is done again. The exit code of "
        "--revoke is 1 when there was no approval.",
        ("skillyard trust", "skillyard trust --list", "skillyard trust ~/projects/app --revoke"),
    ),
    Command(
        ("log", "show"),
        "print the last entries of a decision log",
        "logs:log_show",
        (
            Option("LOG", "the log (default: SKILLYARD_LOG)", "maybe", "LOG", "path"),
            Option("--hook", "the prompt hook's own log: why answers were empty", "flag"),
            _limit("show the last K entries", 20),
        ),
        "SKILLYARD_LOG=FILE logs every selection as one line of JSON, with digests of what was "
        "asked; SKILLYARD_LOG_TEXT=1 keeps the text.",
        ("skillyard log show decisions.jsonl", "skillyard log show --hook --limit 5"),
    ),
    Command(
        ("log", "replay"),
        "ask logged queries again, and list what moved",
        "logs:log_replay",
        (Option("LOG", "the log (default: SKILLYARD_LOG)", "maybe", "LOG", "path"),),
        "For logs with text. The exit code is 1 when anything is different.",
        ("skillyard log replay decisions.jsonl --root skills",),
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
    Command(
        ("bench", "run"),
        "rank skills for the queries of a file",
        "measuring:bench_run",
        (
            Option(
                "--skills",
                "one JSON skill a line, .gz or not (default: the skills of --root)",
                metavar="FILE",
                type="path",
            ),
            Option(
                "--queries", "one JSON query a line", metavar="FILE", type="path", required=True
            ),
            _SCORER,
            Option("--out", "the run file to write", metavar="FILE", type="path", required=True),
            Option(
                "--format",
                "json, or trec: query Q0 id rank score tag (default: json)",
                metavar="FORMAT",
                choices=("json", "trec"),
                default="json",
            ),
        ),
        "Ignores every policy. Up to 50 skills with a score above zero for each query.",
        (
            "skillyard bench run --skills s.jsonl.gz --queries q.jsonl --out run.json",
            "skillyard bench run --root skills --queries q.jsonl --out run.json",
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
    Command(
        ("index", "build"),
        "make the index of a library anew",
        "indexing:index_build",
        (
            _INDEX_ROOT,
            Option(
                "--adapt", "learn the meaning of the library's own words, without labels", "flag"
            ),
            Option("--watch", "stay, and follow the files until interrupted", "flag"),
        ),
        "The index lies in the cache folder (SKILLYARD_CACHE, else XDG_CACHE_HOME, else ~/.cache) "
        "and keeps itself up to date: rank, select and why use it without being told.",
        ("skillyard index build", "skillyard index build skills --adapt"),
    ),
    Command(
        ("index", "status"),
        "say whether a library has an index, and in which state",
        "indexing:index_status",
        (_INDEX_ROOT,),
        "The exit code is 1 unless the index is current.",
        ("skillyard index status",),
    ),
    Command(
        ("index", "verify"),
        "check every byte of the index of a library",
        "indexing:index_verify",
        (_INDEX_ROOT,),
        "The exit code is 1 when something is wrong.",
        ("skillyard index verify",),
    ),
    Command(
        ("completion",),
        "print a completion script for a shell",
        "completion:completion",
        (Option("SHELL", "the shell", choices=("bash", "zsh", "fish")),),
        examples=('eval "$(skillyard completion bash)"',),
    ),
)


def find(words: list[str]) -> Command | None:
    """Return the command that the words begin with, or None."""
    for command in COMMANDS:
        if tuple(words[: len(command.words)]) == command.words:
            return command
    return None
