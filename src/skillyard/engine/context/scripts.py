"""A skill's scripts: always listed, and run only when a caller names and allows one.

Nothing else in skillyard runs a program from a skill. A script runs in its interpreter, in a
process group of its own that is killed as a whole, with a time limit, an output limit and its own
environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from typing import IO, NamedTuple

from skillyard.base.errors import InvalidInput, ResourceRefused, ScriptRefused
from skillyard.base.io.processes import (
    ESSENTIAL_VARIABLES,
    end_group,
    system_shell,
    temporary_home,
)
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.resources import list_resources, real_resource_path
from skillyard.engine.skill import Skill

FOLDER = "scripts/"
_INTERPRETERS = {
    ".py": (sys.executable, "-I"),
    ".sh": (system_shell(),),
    ".bash": ("bash",),
    ".js": ("node",),
    ".rb": ("ruby",),
}
_STEP_S = 0.05


class Script(NamedTuple):
    """One file below ``scripts/``."""

    path: str
    """Relative to the skill's folder, with ``/``."""
    size: int
    mentioned: bool
    """True when the skill's body names it by path or file name; run it instead of rewriting it."""


class ScriptResult(NamedTuple):
    """The result of one run."""

    exit_code: int | None
    """The exit code; None after the time limit was exceeded."""
    stdout: str
    stderr: str
    timed_out: bool
    truncated: bool
    """True when output beyond the limit was dropped."""
    seconds: float


def list_scripts(skill: Skill) -> tuple[Script, ...]:
    """Return the skill's scripts, sorted by path; none for a skill without a folder."""
    try:
        resources = list_resources(skill)
    except ResourceRefused:
        return ()
    body = skill.body or ""
    return tuple(
        Script(item.path, item.size, item.path in body or item.path.rsplit("/", 1)[-1] in body)
        for item in resources
        if item.path.startswith(FOLDER)
    )


def run_script(
    skill: Skill,
    path: str,
    arguments: Sequence[str] = (),
    *,
    allow: Collection[str],
    stdin: str = "",
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    timeout_s: float | None = None,
) -> ScriptResult:
    """Run one script of the skill, which must be listed in ``allow``, and return its output.

    ``path`` is the path from :func:`list_scripts`. The environment contains PATH, the language and
    ``env``, and nothing else of the caller's. The working folder is ``cwd``, or a temporary folder
    that is removed afterwards. Raises ScriptRefused for a script that is not allowed, not below
    ``scripts/`` or of an unknown kind, and InvalidInput for arguments that are not a list of
    strings.
    """
    if path not in allow:
        raise ScriptRefused(
            f"{path!r} is not in the allow list", path=skill.path, hint="add it if you trust it"
        )
    if not path.startswith(FOLDER):
        raise ScriptRefused(f"{path!r} is not below {FOLDER}", path=skill.path)
    if any("\0" in item for item in arguments):
        raise InvalidInput("arguments must hold no NUL")
    if any("\0" in key + value for key, value in (env or {}).items()):
        raise InvalidInput("env must hold no NUL")
    if cwd is not None and not os.path.isdir(cwd):
        raise InvalidInput(f"cwd is not a folder: {cwd!r}")
    try:
        real = real_resource_path(skill, path)
    except ResourceRefused as error:
        raise ScriptRefused(error.message, path=skill.path, hint=error.hint) from None
    if not os.path.isfile(real):
        raise ScriptRefused(f"there is no file {path!r}", path=skill.path, hint="see list_scripts")
    command = [*_interpreter(path, skill), real, *arguments]
    limits = DEFAULT_LIMITS
    seconds = limits.script_seconds if timeout_s is None else timeout_s
    with tempfile.TemporaryDirectory(prefix="skillyard-") as private:
        folder = private if cwd is None else cwd
        variables = {**own_environment(private), **(env or {})}
        return run_command(command, folder, variables, stdin, seconds, limits.script_output_bytes)


def own_environment(home: str) -> dict[str, str]:
    """Return the variables that a script needs, with a home of its own, and none of our keys."""
    variables = {key: os.environ[key] for key in ESSENTIAL_VARIABLES if key in os.environ}
    return variables | temporary_home(home)


def _interpreter(path: str, skill: Skill) -> tuple[str, ...]:
    ending = os.path.splitext(path)[1].lower()
    interpreter = _INTERPRETERS.get(ending)
    if interpreter is None:
        raise ScriptRefused(
            f"no interpreter is known for {path!r}",
            path=skill.path,
            hint=f"known endings: {', '.join(sorted(_INTERPRETERS))}",
        )
    return interpreter


def run_command(
    command: list[str],
    cwd: str,
    env: dict[str, str],
    stdin: str,
    timeout_s: float,
    max_bytes: int,
) -> ScriptResult:
    """Run a command in a group of processes that is ended whole, and return what it printed.

    Raises ScriptRefused where it cannot be started, and InvalidInput for unusable arguments.
    """
    started = time.monotonic()
    # Files, not pipes: the output of a script that never stops printing can be watched and cut.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        stdin_file = tempfile.TemporaryFile()  # noqa: SIM115 - closed below, after the start
        with stdin_file:
            stdin_file.write(stdin.encode("utf-8", "surrogateescape"))
            stdin_file.seek(0)
            try:
                process = subprocess.Popen(
                    command,
                    cwd=cwd,
                    env=env,
                    stdin=stdin_file,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
            except UnicodeEncodeError:
                raise InvalidInput("arguments must be text that a command line can hold") from None
            except OSError as error:
                raise ScriptRefused(
                    f"cannot start {command[0]}: {error.strerror}", hint="install it"
                ) from None
        over = _wait(process, started + timeout_s, (out, err), max_bytes)
        code = None if over == "time" else process.returncode
        stdout, cut_out = _read_output(out, max_bytes)
        stderr, cut_err = _read_output(err, max_bytes)
    seconds = time.monotonic() - started
    return ScriptResult(code, stdout, stderr, over == "time", cut_out or cut_err, seconds)


def _wait(
    process: subprocess.Popen[bytes],
    deadline: float,
    outputs: tuple[IO[bytes], IO[bytes]],
    max_bytes: int,
) -> str:
    """Wait for the end, and kill the group when a limit is exceeded. Return which one."""
    try:
        while True:
            try:
                process.wait(min(_STEP_S, max(0.0, deadline - time.monotonic())))
                return ""
            except subprocess.TimeoutExpired:
                if time.monotonic() >= deadline:
                    return "time"
                if any(os.fstat(output.fileno()).st_size > max_bytes for output in outputs):
                    return "output"
    finally:
        end_group(process)


def _read_output(output: IO[bytes], max_bytes: int) -> tuple[str, bool]:
    output.seek(0)
    data = output.read(max_bytes + 1)
    return data[:max_bytes].decode("utf-8", "replace"), len(data) > max_bytes
