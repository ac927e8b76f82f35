"""A model that answers as an agent: each request with a workspace is one run of inspect_ai.

Each run is a process of its own (:mod:`skillyard.evals.agent.process`), since inspect_ai runs one
evaluation a process. Budget, cache, resume and replay are those of every other model. The log of
each run stays below ``agent/`` in the results; the answer is read from it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from base64 import b64encode
from typing import Any

from skillyard.base.text import clean_line, shorten
from skillyard.evals.agent.workspace import Workspace
from skillyard.evals.checks import InputFile
from skillyard.evals.models.calls import (
    ChatModel,
    ModelFailed,
    ModelReply,
    ModelRequest,
    TokenUsage,
)

LOGS = "agent"
TOKENS = 200_000
"""Tokens of one run, input and output together: the most that it can cost is reserved."""
MESSAGES = 60
_GRACE_S = 30.0
"""For the process to start, and to end the sandbox."""
_EXCERPT = 300


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

    def sent(self, request: ModelRequest) -> dict[str, object]:
        """Return what the answer depends on beside model and texts."""
        if request.workspace is None:
            return self._model.sent(request)
        return {
            "agent": "inspect_ai",
            "sandbox": self._sandbox,
            "tokens": request.max_tokens,
            "messages": MESSAGES,
            "workspace": request.workspace.digest,
        }

    def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Run an agent once, for at most ``timeout_s`` seconds. Raises ModelFailed."""
        if request.workspace is None:
            return self._model.complete(request, timeout_s)
        started = time.monotonic()
        answer = self._run(self._task(request, request.workspace, timeout_s), timeout_s)
        if answer.get("error"):
            # The cause stands at the end, behind the whole request.
            what = clean_line(answer["error"])[-_EXCERPT:]
            raise ModelFailed("server", f"the agent failed: {what}", charged=True)
        return ModelReply(
            answer["text"],
            answer["stop_reason"],
            TokenUsage(answer["input_tokens"], answer["output_tokens"]),
            self.sent(request),
            time.monotonic() - started,
            answer["sdk"],
        )

    def _task(
        self, request: ModelRequest, workspace: Workspace, timeout_s: float
    ) -> dict[str, Any]:
        skill = workspace.skill
        return {
            "provider": self.provider,
            "model": request.model,
            "base_url": self._base_url,
            "role": request.system,
            "prompt": request.user,
            "files": [_encoded(file) for file in workspace.files],
            "skill": None
            if skill is None
            else {
                "name": skill.name,
                "description": skill.description,
                "body": skill.body,
                "files": [_encoded(file) for file in skill.files],
            },
            "sandbox": self._sandbox,
            "tokens": request.max_tokens,
            "messages": MESSAGES,
            "time_s": int(timeout_s) or 1,
            "logs": self._logs,
        }

    def _run(self, task: dict[str, Any], timeout_s: float) -> dict[str, Any]:
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


def _encoded(file: InputFile) -> list[str]:
    return [file.name, b64encode(file.data).decode()]
