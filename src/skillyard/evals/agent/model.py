"""A model that answers as an agent: each request with a workspace is one run of inspect_ai.

Each run is a process of its own (:mod:`skillyard.evals.agent.process`), since inspect_ai runs one
evaluation a process. Budget, cache, resume and replay are those of every other model. The log of
each run stays below ``agent/`` in the results; the answer is read from it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from skillyard.base.errors import InvalidInput, ResourceRefused
from skillyard.base.text import clean_line, shorten
from skillyard.engine.resources import list_resources, read_resource
from skillyard.engine.skill import Skill
from skillyard.evals.arms import git_runner, old_path, split_document
from skillyard.evals.checks import InputFile
from skillyard.evals.models.calls import (
    ChatModel,
    ModelFailed,
    ModelReply,
    ModelRequest,
    TokenUsage,
)
from skillyard.evals.storage import digest_of

SKILLS = "skills"
"""The folder of the sandbox that holds the skill."""
LOGS = "agent"
TOKENS = 200_000
"""Tokens of one run, input and output together: the most that it can cost is reserved."""
MESSAGES = 60
_GRACE_S = 30.0
"""For the process to start, and to end the sandbox."""
_EXCERPT = 300
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_DESCRIPTION_CHARS = 1_024
"""What inspect_ai takes of names and descriptions, as agentskills.io has them."""


class AgentModel:
    """Answers requests that have a workspace by an agent, and all others by ``model``."""

    def __init__(self, model: ChatModel, base_url: str | None, sandbox: str, results: str) -> None:
        """``base_url`` is the server's, or None for the provider's own."""
        self._model = model
        self.provider = model.provider
        self.host = model.host
        self._base_url = base_url
        self._sandbox = sandbox
        self._logs = os.path.join(results, LOGS)

    def parameters(self, request: ModelRequest) -> dict[str, object]:
        """Return what the answer depends on beside model and texts."""
        if request.workspace is None:
            return self._model.parameters(request)
        return {
            "agent": "inspect_ai",
            "sandbox": self._sandbox,
            "tokens": request.max_tokens,
            "messages": MESSAGES,
            "workspace": digest_of(request.workspace),
        }

    def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Run an agent once, for at most ``timeout_s`` seconds. Raises ModelFailed."""
        if request.workspace is None:
            return self._model.complete(request, timeout_s)
        started = time.monotonic()
        task = {
            **request.workspace,
            "provider": self.provider,
            "model": request.model,
            "base_url": self._base_url,
            "role": request.system,
            "prompt": request.user,
            "sandbox": self._sandbox,
            "tokens": request.max_tokens,
            "messages": MESSAGES,
            "time_s": int(timeout_s) or 1,
            "logs": self._logs,
        }
        answer = _run(task, timeout_s)
        if answer.get("error"):
            # The cause stands at the end, behind the whole request.
            what = clean_line(answer["error"])[-_EXCERPT:]
            raise ModelFailed("server", f"the agent failed: {what}", charged=True)
        return ModelReply(
            answer["text"],
            answer["stop_reason"],
            TokenUsage(answer["input_tokens"], answer["output_tokens"]),
            self.parameters(request),
            time.monotonic() - started,
            answer["sdk"],
        )


def _run(task: dict[str, Any], timeout_s: float) -> dict[str, Any]:
    try:
        done = subprocess.run(
            [sys.executable, "-m", "skillyard.evals.agent.process"],
            check=False,
            capture_output=True,
            input=json.dumps(task),
            text=True,
            timeout=timeout_s + _GRACE_S,
        )
    except subprocess.TimeoutExpired:
        what = f"the agent took over {timeout_s:g} s"
        raise ModelFailed("timeout", what, charged=True) from None
    try:
        return dict(json.loads(done.stdout.splitlines()[-1]))
    except (ValueError, IndexError):
        last = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        what = f"the agent's process failed: {shorten(clean_line(last), _EXCERPT)}"
        raise ModelFailed("server", what, charged=True) from None


def encoded(files: Sequence[InputFile]) -> list[list[str]]:
    """Return files as JSON, in pairs of a path and its content."""
    return [[file.name, b64encode(file.data).decode()] for file in files]


def agent_skill(skill: Skill, document: str, files: Sequence[InputFile]) -> dict[str, Any]:
    """Return a skill for an agent, with the files beside its document.

    Raises InvalidInput where inspect_ai would refuse it.
    """
    description = " ".join(skill.description.split())
    if not _NAME.fullmatch(skill.name):
        raise InvalidInput(
            f"an agent cannot be offered {skill.name!r}: a name has at most 64 characters of a-z,"
            " 0-9 and -"
        )
    if not 0 < len(description) <= _DESCRIPTION_CHARS:
        raise InvalidInput(
            f"an agent cannot be offered {skill.name}: its description has"
            f" {len(description):,} of 1 to {_DESCRIPTION_CHARS:,} characters"
        )
    return {
        "name": skill.name,
        "description": description,
        "body": split_document(document).body.strip(),
        "files": encoded(files),
    }


def skill_files(skill: Skill) -> tuple[InputFile, ...]:
    """Return the files beside a skill's document; none for a single document."""
    try:
        listed = list_resources(skill)
        return tuple(InputFile(each.path, read_resource(skill, each.path)) for each in listed)
    except ResourceRefused:
        return ()


def old_files(skill: Skill, where: str) -> tuple[InputFile, ...]:
    """Return the files beside the old document, from the folder or the commit ``where``."""
    if os.path.isdir(where):
        path = old_path(skill, where)
        return skill_files(Skill(skill.name, skill.description, "", path=path)) if path else ()
    run = git_runner(skill, where)
    listed: subprocess.CompletedProcess[bytes] = run("ls-tree", "-r", "-z", where, "./")
    files = []
    for entry in listed.stdout.split(b"\0"):
        head, _, name = entry.partition(b"\t")
        mode = head[:6]
        path = os.fsdecode(name)
        if mode.startswith(b"100") and path != os.path.basename(skill.path):  # no links
            blob = head.split()[2].decode()
            files.append(InputFile(path, run("cat-file", "blob", blob).stdout))
    return tuple(files)
