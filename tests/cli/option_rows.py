"""How the options of ``serve``, of the hooks and of ``eval`` are shown."""

from __future__ import annotations

from tests.cli.option_world import Row, row

__all__ = [
    "ASKING",
    "EVAL_BASES",
    "EVAL_ROWS",
    "HOOK_BASES",
    "HOOK_ROWS",
    "ROUTED",
    "SERVE_BASE",
    "SERVE_ROWS",
]

SERVE_BASE = "skills --port PORT"
_NODE = "--store sqlite:///store.db --port PORT"
SERVE_ROWS: dict[tuple[str, str], Row] = {
    ("serve", flag): shown
    for flag, shown in {
        "--mcp": row("--mcp http"),
        "--http": row("--http", "skills --port PORT --mcp http", refused="not allowed with"),
        "--host": row("--host 0.0.0.0"),
        "--port": row("--port 70000", refused="port must be an integer"),
        "--token-file": row("--token-file token.txt"),
        "--store": row("--store sqlite:///store.db", "--port PORT"),
        "--caller": row("--caller other", _NODE),
        "--state-dir": row("--state-dir node", _NODE),
        "--max-stale": row("--max-stale 0.000001", _NODE),
        "--log-format": row("--log-format text"),
        "--remote": row("--remote"),
        "--local-only": row("--local-only", "skills --port PORT --remote"),
        "--feedback": row("--feedback"),
        "--allow-host": row("--allow-host skills.example"),
        "--allow-origin": row("--allow-origin https://pages.example"),
        "--scope": row("--scope user"),
    }.items()
}

HOOK_BASES = {
    f"hook {host}": "--root skills --no-refresh --budget-ms 60000"
    for host in ("claude-code", "codex")
}
_NEEDY = "--root needy --no-refresh --budget-ms 60000"
HOOK_ROWS: dict[tuple[str, str], Row] = {
    (command, flag): shown
    for command, base in HOOK_BASES.items()
    for flag, shown in {
        "--max-chars": row("--max-chars 99"),
        "--tool": row("--tool Nothing", _NEEDY, prompt="paint a fence"),
        "--min-score": row("--min-score 0.5", prompt="repair"),
        "--wrong-cost": row("--wrong-cost 0.5", prompt="repair"),
        "--no-perhaps": row("--no-perhaps", prompt="repair"),
        "--budget-ms": row("--budget-ms 0"),
        "--no-refresh": row("--no-refresh", "--root other --budget-ms 60000"),
        "--root": row("--root needy", prompt="paint a fence"),
    }.items()
}

_PLACES = "--root kitchen/skills --evals-dir kitchen/evals"
ROUTED = {
    "activation": f"{_PLACES} --skill tea-brewing",
}
_JUDGED = dict.fromkeys(
    ("effectiveness", "size-impact"), f"{_PLACES} --skill coffee-roasting --anyway"
)
ASKING = {layer: f"{base} --router model" for layer, base in ROUTED.items()} | _JUDGED


def _of_layer(layer: str, asking: str) -> dict[str, Row]:
    """Return how the options of a run are shown; ``asking`` are arguments that ask a model."""
    most = " --anyway" if layer in _JUDGED else ""
    return {
        "--root": row("--root kitchen/skills", f"--root other --evals-dir kitchen/evals{most}"),
        "--scope": row("--scope user", f"--root other --evals-dir kitchen/evals{most}"),
        "--evals-dir": row("--evals-dir kitchen/evals", f"--root kitchen/skills{most}"),
        "--dry-run": row("--dry-run"),
        "--model": row("--model claude-opus-5-5", asking),
        "--provider": row("--provider openai", f"{asking} --max-calls 99"),
        "--base-url": row("--base-url http://127.0.0.1:9", asking),
        "--runs": row("--runs 2"),
        "--seed": row("--seed 7"),
        "--output-dir": row("--output-dir out"),
        "--limit": row("--limit 1", f"{_PLACES}{most}"),
        "--max-cost": row("--max-cost 0.000001", asking),
        "--max-calls": row("--max-calls 1", asking),
        "--concurrency": row("--concurrency 1", asking),
        "--timeout": row("--timeout 0.000001", asking),
        "--regenerate": row("--regenerate", f"{asking} --output-dir done"),
        "--replay": row("--replay", f"{asking} --output-dir done --model claude-opus-5-5"),
        "--resume": row("--resume nosuch", refused="nosuch"),
        "--format": row("--format md"),
        "--gate": row("--gate", refused="gate would pass"),
    }


def _of_judged(layer: str) -> dict[str, Row]:
    base = _JUDGED[layer]
    return {
        "--skill": row("--skill coffee-roasting", f"{_PLACES} --anyway"),
        "--in-skills": row("--in-skills", f"{_PLACES} --anyway"),
        "--judge-model": row("--judge-model claude-opus-5-5"),
        "--rejudge": row("--rejudge", f"{base} --output-dir done"),
        "--allow-scripts": row("--allow-scripts", f"kitchen/script.yaml {_PLACES} --anyway"),
        "--orders": row("--orders single"),
        "--baselines-dir": row("--baselines-dir kitchen/bad", f"{base} --gate", refused="bad/"),
        "--anyway": row("--anyway", f"{_PLACES} --skill coffee-roasting"),
        "--until-decided": row("--until-decided"),
        "--margin": row("--margin 0.9"),
        **(
            {"--old-version": row("--old-version nosuch", refused="nosuch")}
            if layer == "effectiveness"
            else {}
        ),
    }


EVAL_BASES = {
    **{f"eval run {layer}": base for layer, base in {**ROUTED, **_JUDGED}.items()},
    "eval compare": "--evals-dir kitchen/evals",
    "eval report": "--evals-dir kitchen/evals",
}
EVAL_ROWS: dict[tuple[str, str], Row] = {
    **{
        (f"eval run {layer}", flag): shown
        for layer, asking in ASKING.items()
        for flag, shown in _of_layer(layer, asking).items()
    },
    **{
        (f"eval run {layer}", flag): shown
        for layer, base in ROUTED.items()
        for flag, shown in {
            "--skill": row("--skill tea-brewing", _PLACES),
            "--in-skills": row("--in-skills", _PLACES),
            "--router": row("--router overlap"),
            "--top-k": row("--top-k 2"),
            "--min-score": row("--min-score 0.99"),
            "--gate": row("--gate", f"{base} --router overlap", refused="gate would pass"),
            "--baselines-dir": row(
                "--baselines-dir nowhere", f"{base} --gate", refused="no baseline yet"
            ),
        }.items()
    },
    **{
        (f"eval run {layer}", flag): shown
        for layer in _JUDGED
        for flag, shown in _of_judged(layer).items()
    },
    **{
        (f"eval {command}", flag): shown
        for command in ("compare", "report")
        for flag, shown in {
            "--evals-dir": row("--evals-dir kitchen/evals", ""),
            "--results-dir": row("--results-dir done"),
            "--baselines-dir": row("--baselines-dir nowhere"),
            "--eval-type": row("--eval-type size_impact", refused="no results of size_impact"),
        }.items()
    },
    ("eval compare", "--save"): row("--save"),
    ("eval compare", "--format"): row("--format md"),
    ("eval report", "--format"): row("--format md"),
    ("eval report", "--out"): row("--out page.html"),
}
