"""Runs one agent in a sandbox and prints its answer, which it reads from inspect_ai's log.

The task comes as JSON on standard input (:mod:`skillyard.evals.agent.model` writes it). The answer
is one line of JSON: ``text``, ``stop_reason``, token counts, ``log``, or an ``error``.
"""

from __future__ import annotations

import json
import os
import sys
from base64 import b64decode
from typing import Any

from inspect_ai import Task, __version__, eval
from inspect_ai.agent import as_solver, react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalSample
from inspect_ai.model import Model, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Skill, Tool, bash, skill
from inspect_ai.util import sandbox

from skillyard.evals.agent.model import SKILLS

_COMMAND_S = 120
_FILES, _FILE_CHARS = 20, 8_000
"""Of what an agent wrote, so much is a part of its answer."""
_WRITTEN = "written"
_SCRIPTS = "scripts/"


@solver
def agent(offered: Skill | None, inputs: dict[str, str]) -> Solver:
    """An agent with a shell, and with the skill if there is one; it ends when it calls no tool."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        tools: list[Tool] = [bash(timeout=_COMMAND_S)]
        if offered is not None:
            tools.append(skill([offered]))
        role = state.metadata["role"]
        state = await as_solver(react(prompt=role, tools=tools, submit=False))(state, generate)
        state.store.set(_WRITTEN, await _written(inputs))
        return state

    return solve


async def _written(inputs: dict[str, str]) -> dict[str, str]:
    """Return the text files that the agent wrote or changed, by their paths."""
    listed = await sandbox().exec(["find", ".", "-type", "f", "-not", "-path", f"./{SKILLS}/*"])
    written: dict[str, str] = {}
    for line in sorted(listed.stdout.splitlines())[: _FILES * 10]:
        path = line.removeprefix("./")
        try:
            text = await sandbox().read_file(path)
        except (OSError, UnicodeDecodeError, ValueError):
            continue  # no text, or too large to be read
        if inputs.get(path) != text and len(written) < _FILES:
            written[path] = text[:_FILE_CHARS]
    return written


def main() -> None:
    """Run the task of standard input."""
    # The answer's line must be the last of what is printed.
    sys.stdout.write(json.dumps(_run(json.load(sys.stdin))) + "\n")


def _run(task: dict[str, Any]) -> dict[str, Any]:
    files = dict(task["files"])
    offered = None
    if task["skill"] is not None:
        own = task["skill"]
        # inspect_ai makes the scripts executable; everything else is copied like other files.
        scripts = {
            name.removeprefix(_SCRIPTS): b64decode(data)
            for name, data in own["files"]
            if name.startswith(_SCRIPTS)
        }
        offered = Skill(
            name=own["name"],
            description=own["description"],
            instructions=own["body"],
            scripts=dict(scripts),
        )
        folder = f"{SKILLS}/{own['name']}"
        files |= {f"{folder}/{n}": d for n, d in own["files"] if not n.startswith(_SCRIPTS)}
    inputs = {name: b64decode(data).decode("utf-8", "replace") for name, data in task["files"]}
    files = {name: f"data:application/octet-stream;base64,{data}" for name, data in files.items()}
    sample = Sample(task["prompt"], files=files, metadata={"role": task["role"]})
    log = eval(
        Task(dataset=MemoryDataset([sample]), solver=agent(offered, inputs)),
        model=_model(task),
        sandbox=task["sandbox"],
        log_dir=task["logs"],
        log_format="json",
        display="none",
        score=False,
        fail_on_error=False,
        token_limit=task["tokens"],
        message_limit=task["messages"],
        time_limit=task["time_s"],
        max_retries=0,
    )[0]
    if not log.samples:
        return {"error": log.error.message if log.error is not None else "the agent did not run"}
    return {**_answer(log.samples[0]), "log": os.path.basename(log.location)}


def _answer(sample: EvalSample) -> dict[str, Any]:
    """Return the answer in a log: the last message, and the files that the agent wrote."""
    if sample.error is not None:
        return {"error": sample.error.message}
    usage = list(sample.model_usage.values())
    text = sample.output.completion.strip()
    for name, content in sample.store.get(_WRITTEN, {}).items():
        text += f"\n\n--- FILE {name} ---\n{content}\n--- END ---"
    cached = ("input_tokens_cache_read", "input_tokens_cache_write")
    counts = [each.input_tokens + sum(getattr(each, c) or 0 for c in cached) for each in usage]
    return {
        "text": text.strip(),
        "stop_reason": "max_tokens" if sample.limit is not None else "end",
        "input_tokens": sum(counts),
        "output_tokens": sum(each.output_tokens for each in usage),
        "sdk": f"inspect_ai {__version__}",
    }


def _model(task: dict[str, Any]) -> Model:
    base_url = task["base_url"]
    if task["provider"] == "openai" and base_url:  # a server of the older, common protocol
        key = os.environ.get("OPENAI_API_KEY")
        return get_model(f"openai-api/server/{task['model']}", base_url=base_url, api_key=key)
    return get_model(f"{task['provider']}/{task['model']}", base_url=base_url)


if __name__ == "__main__":
    main()
