"""What each command is asked, in an order in which one may use what another made."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DRIVES", "LONG_RUNNING", "Drive"]

STORE = "--store sqlite:///catalog.db"
ROOT = "--root examples/skills"
EVALS = "--evals-dir examples/evals --output-dir results"
PAID = f"{ROOT} {EVALS} --max-cost 2 --limit 1"
PINNED = "--into pinned"
"""A folder of skills with a lock file that pins one of them."""
KEPT = "--results-dir results --baselines-dir base"


class Drive(NamedTuple):
    """One command line and what must come of it."""

    line: str
    shows: str
    """A piece of what it prints, on either stream."""
    code: int = 0
    extra: str = ""
    """What it needs beyond the core: without, it ends with 2 and names this extra."""
    stdin: str = ""


PROMPT = "find the commit that broke the build"
PAYLOAD = f'{{"hook_event_name": "UserPromptSubmit", "cwd": "/nowhere", "prompt": "{PROMPT}"}}'

DRIVES = (
    Drive("list examples/skills", "csv-cleaning"),
    Drive("check examples/skills", "", 0),
    Drive("check examples/skills --strict --fix --no-config", "", 0),
    Drive("scan examples/skills", "", 0),
    Drive(f"show git-bisect {ROOT}", "git-bisect"),
    Drive(f"rank clean this csv file {ROOT}", "csv-cleaning"),
    Drive(f"select clean this csv file {ROOT} --json", "csv-cleaning"),
    Drive(f"select who won the world cup in 1994 {ROOT}", "No skill fits", 1),
    Drive(f"evaluate --text terraform --files main.tf {ROOT}", "terraform-plan-review"),
    Drive(f"why csv-cleaning clean this csv file {ROOT}", "words"),
    Drive(f"summary {ROOT} --format xml", "available_skills"),
    Drive(f"inject is this terraform plan safe to apply {ROOT}", "[skill:terraform-plan-review]"),
    Drive(f"usage --log log.jsonl {ROOT}", "csv-cleaning"),
    Drive(f"feedback csv-cleaning --right --for clean {ROOT}", "csv-cleaning"),
    Drive("feedback --list", "csv-cleaning"),
    Drive("feedback --undo", "csv-cleaning"),
    Drive(f"bench run {ROOT} --queries q.jsonl --out run.json", ""),
    Drive("bench score --run run.json --queries q.jsonl", "NDCG@10"),
    Drive("bench compare run.json run.json --queries q.jsonl", "ndcg@10"),
    Drive("search clean csv files --limit 3", "csv-cleaning", extra="remote"),
    Drive("search fill in pdf forms --source registry --json", "anthropics/skills", extra="remote"),
    Drive("add demo/skills/csv-cleaning --into mine", "mine/csv-cleaning", extra="remote"),
    Drive(
        "add ./examples/skills/git-bisect --into theirs --dry-run", "would be added", extra="remote"
    ),
    Drive(f"sync {PINNED}", "current  csv-cleaning"),
    Drive(f"outdated {PINNED}", "current", extra="remote"),
    Drive(f"update {PINNED} --dry-run", "current  csv-cleaning", extra="remote"),
    Drive(f"verify {PINNED}", "current  csv-cleaning"),
    Drive(f"remove csv-cleaning {PINNED}", "removed  csv-cleaning"),
    Drive("verify --global --allow-extra", "current  git-bisect"),
    Drive("sync --global --agent codex --dry-run", "planned  git-bisect"),
    Drive("remove git-bisect --global --dry-run", "planned  git-bisect"),
    Drive("trust examples", "examples"),
    Drive("trust --list", "examples"),
    Drive("trust examples --revoke", "examples"),
    Drive("policy", "no policy holds here"),
    Drive("setup --dry-run", "usage log"),
    Drive("new csv-fixes", "csv-fixes/SKILL.md"),
    Drive("hook install claude-code --file settings.json", "settings.json"),
    Drive("hook claude-code", "git-bisect", stdin=PAYLOAD),
    Drive("hook codex", "git-bisect", stdin=PAYLOAD),
    Drive("hook uninstall claude-code --file settings.json", "settings.json"),
    Drive(f"eval init git-bisect {ROOT} --evals-dir evals", "git-bisect.yaml", extra="eval"),
    Drive(f"eval run activation {ROOT} {EVALS} --skill csv-cleaning", "csv-cleaning", extra="eval"),
    Drive(f"eval run activation {ROOT} {EVALS}", "", extra="eval"),
    Drive("eval plan --effect 1", "Prompts of each skill"),
    Drive(f"eval run effectiveness {PAID} --anyway", "", extra="eval"),
    Drive(
        f"eval run size-impact {PAID} --skill csv-cleaning --anyway",
        "",
        extra="eval",
    ),
    Drive(
        f"eval compare --save {KEPT} --eval-type activation",
        "base",
        extra="eval",
    ),
    Drive(f"eval compare {KEPT}", "", extra="eval"),
    Drive("eval report --results-dir results --out report.html", "report.html", extra="eval"),
    Drive("index build examples/skills", "skills, "),
    Drive("index status examples/skills", "current"),
    Drive("index verify examples/skills", ""),
    Drive(f"store init {STORE}", ""),
    Drive(f"store migrate {STORE}", ""),
    Drive(f"store publish examples/skills {STORE} --tenant acme", ""),
    Drive(f"store status {STORE}", ""),
    Drive(f"store log {STORE}", "acme"),
    Drive(f"store history csv-cleaning {STORE} --tenant acme", "csv-cleaning"),
    Drive(f"store withdraw csv-cleaning {STORE} --tenant acme", ""),
    Drive(f"store rollback 1 {STORE} --tenant acme", ""),
    Drive(f"store grant team {STORE} --tenant acme", "team"),
    Drive(f"store grants {STORE}", "team"),
    Drive(f"store revoke team {STORE} --tenant acme", "team"),
    Drive("completion bash", "complete"),
    Drive("doctor examples/skills", "the root examples/skills has"),
    Drive("help select", "select"),
)
LONG_RUNNING = {"serve"}
"""Commands that end when they are told to: the tests of services drive them."""
