"""Check the version, Python, the command on PATH, the kernel, required packages and extras."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import NamedTuple

from skillyard.text import plural
from skillyard.usecases.doctor.finding import ERROR, INFO, OK, WARNING, Finding
from skillyard.usecases.doctor.programs import (
    export_command,
    is_ours,
    own_program,
    unset_command,
)
from skillyard.usecases.doctor.request import Request

__all__ = ["installation", "missing_of", "reinstall_command"]

PACKAGE = "skillyard"
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(\[[^\]]*\])?\s*([^;]*?)\s*(?:;(.*))?")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
_ABSENT = "is not installed"
_CLAUSE = re.compile(r"(>=|<=|==|>|<)\s*([0-9.]+)")

_PURPOSES = {
    "cli": "colours and tables on a terminal",
    "serve": "the HTTP service and the MCP server",
    "remote": "searching and adding skills from elsewhere, the client of the service",
    "fast": "faster work on vectors",
    "watch": "change events of the operating system for `serve`",
    "postgres": "catalog stores in PostgreSQL",
    "eval": "evaluations with models, and their statistics",
    "otel": "OpenTelemetry spans",
    "adk": "the adapter for Google ADK",
    "pydantic-ai": "the adapter for pydantic-ai",
    "langchain": "the adapter for LangChain and deepagents",
    "openai-agents": "the adapter for the OpenAI Agents SDK",
}


class Requirement(NamedTuple):
    """One required package, from the metadata of skillyard."""

    name: str
    options: str
    """``[binary]``, or empty."""
    versions: str
    """``>=2,<3``, or empty."""
    extra: str
    """The extra that it belongs to; empty: always needed."""

    def __str__(self) -> str:
        return f"{self.name}{self.options}{self.versions}"

    def problem(self) -> str:
        """Return what is wrong with the installed package; empty when it fits."""
        try:
            version = metadata.version(self.name)
        except metadata.PackageNotFoundError:
            return f"{self.name} {_ABSENT}"
        if not _fits(version, self.versions):
            return f"{self.name} {version} is installed, {self.versions} is needed"
        return ""


def requirements() -> list[Requirement] | None:
    """Return the requirements of the package's metadata, or None without metadata."""
    try:
        listed = metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    result = []
    for text in listed:
        match = _REQUIREMENT.fullmatch(text)
        if match is not None and match[1].lower() != PACKAGE:  # `all` names the others
            extra = _EXTRA.search(match[4] or "")
            options, versions = match[2] or "", match[3].strip("()").replace(" ", "")
            result.append(Requirement(match[1], options, versions, extra[1] if extra else ""))
    return result


def _fits(version: str, versions: str) -> bool:
    """Compare release numbers; clauses that need more than that are taken to hold."""
    have = _numbers(version)
    for operator, text in _CLAUSE.findall(versions):
        want = _numbers(text)
        size = max(len(have), len(want))
        left, right = (each + (0,) * (size - len(each)) for each in (have, want))
        holds = {
            ">=": left >= right,
            "<=": left <= right,
            "==": left == right,
            ">": left > right,
            "<": left < right,
        }
        if not holds[operator]:
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    release = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in release.group().split(".")) if release else ()


def missing_of(extra: str) -> list[Requirement]:
    """Return the missing requirements of an extra; empty when complete or without metadata."""
    listed = requirements() or []
    return [each for each in listed if each.extra == extra and each.problem()]


def reinstall_command(missing: Iterable[Requirement]) -> str:
    """Return the command that installs packages beside the running installation."""
    arguments = [str(each) for each in missing]
    if os.path.isfile(os.path.join(sys.prefix, "pipx_metadata.json")):
        return shlex.join(["pipx", "inject", PACKAGE, *arguments])
    if find_spec("pip") is not None:
        return shlex.join([sys.executable, "-m", "pip", "install", *arguments])
    return shlex.join(["uv", "pip", "install", "--python", sys.executable, *arguments])


def installation(request: Request) -> Iterator[Finding]:
    """Check the installation."""
    folder = os.path.dirname(sys.modules[PACKAGE].__file__ or "")
    yield Finding("version", OK, f"skillyard {request.version}", path=folder)
    where = f"{platform.python_implementation()} {platform.python_version()}"
    system = f"{platform.system()} {platform.machine()}"
    yield Finding(
        "python",
        OK,
        f"{where} on {system}",
        path=sys.executable,
        details={"version": platform.python_version(), "system": system},
    )
    yield _program()
    yield _kernel()
    listed = requirements()
    if listed is None:
        yield Finding(
            "packages",
            INFO,
            "skillyard runs from its sources and is not installed, so its extras are not known",
            "Install it from its checkout.",
            "pip install .",
        )
        return
    yield _packages([each for each in listed if not each.extra])
    for extra in dict.fromkeys(each.extra for each in listed if each.extra):
        yield _extra(extra, [each for each in listed if each.extra == extra])


def _program() -> Finding:
    program, own = shutil.which(PACKAGE), own_program()
    if program is not None and is_ours(program):
        return Finding("program", OK, "`skillyard` on PATH is this installation", path=program)
    if own is None:
        beside = f"; PATH has another one, {program}" if program else ""
        return Finding(
            "program",
            INFO,
            f"this installation has no `skillyard` program of its own{beside}",
            "Start this one as a module of its Python.",
            f"{shlex.quote(sys.executable)} -m {PACKAGE} --version",
            path=program or "",
        )
    what = f"`skillyard` on PATH is another installation, {program}" if program else (
        "`skillyard` is not on PATH, so other programs do not find it by its name"
    )  # fmt: skip
    return Finding(
        "program",
        WARNING,
        what,
        "Put the folder of this installation first on PATH, or name the program by its whole path.",
        export_command("PATH", f"{os.path.dirname(own)}{os.pathsep}$PATH"),
        path=own,
    )


def _kernel() -> Finding:
    if os.environ.get("SKILLYARD_KERNEL", "").lower() in ("off", "0", "no"):
        return Finding(
            "kernel",
            INFO,
            "the C kernel is switched off by SKILLYARD_KERNEL; results are the same, slower",
            "Remove the variable.",
            unset_command("SKILLYARD_KERNEL"),
        )
    again = "Install a C compiler and the headers of Python, then install skillyard from source."
    try:
        kernel = import_module("skillyard.index._kernel")
    except ModuleNotFoundError:
        what = "the C kernel is not in this installation; results are the same, slower"
        return Finding("kernel", INFO, what, again)
    except ImportError as error:
        what = f"the C kernel is there and does not load: {error}"
        return Finding("kernel", WARNING, what, again)
    return Finding("kernel", OK, "the C kernel is loaded", path=kernel.__file__ or "")


def _packages(needed: list[Requirement]) -> Finding:
    missing = [each for each in needed if each.problem()]
    if missing:
        return Finding(
            "packages",
            ERROR,
            "; ".join(each.problem() for each in missing),
            "Install what is missing.",
            reinstall_command(missing),
        )
    count = plural(len(needed), "required package")
    names = [each.name for each in needed]
    return Finding("packages", OK, f"{count}: {', '.join(names)}", details={"packages": names})


def _extra(extra: str, needed: list[Requirement]) -> Finding:
    what = _PURPOSES.get(extra, "")
    purpose = f" ({what})" if what else ""
    missing = [each for each in needed if each.problem()]
    details = {
        "extra": extra,
        "packages": [each.name for each in needed],
        "missing": [str(each) for each in missing],
    }
    name = f"extra.{extra}"
    if not missing:
        return Finding(name, OK, f"extra {extra} is installed{purpose}", details=details)
    problems = [each.problem() for each in missing]
    unfit = any(not problem.endswith(_ABSENT) for problem in problems)
    if unfit or len(missing) < len(needed):
        message = f"extra {extra} is incomplete{purpose}: {'; '.join(problems)}"
    else:
        message = f"extra {extra} is not installed{purpose}"
    # That some of its packages are there says nothing: others need them, too.
    status = WARNING if unfit else INFO
    return Finding(
        name, status, message, "Install it if you need it.", reinstall_command(missing), "",
        details=details,
    )  # fmt: skip
