"""Check environment variables, the settings file and the default scorer. No value is reported."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from difflib import get_close_matches

from skillyard.base.errors import InvalidInput, SkillError, SkillyardError
from skillyard.engine.embedding import endpoint
from skillyard.engine.ranking.registry import SCORER_VARIABLE, default_scorer
from skillyard.hosts.doctor.finding import ERROR, INFO, OK, WARNING, Finding, Request
from skillyard.install.policy.places import PROFILE_VARIABLE
from skillyard.install.sources import settings as remote_settings
from skillyard.install.sources.host_tokens import PREFIX

VARIABLES = frozenset(
    {
        *(name for name in remote_settings.VARIABLES if name.startswith("SKILLYARD_")),
        *(endpoint.URL, endpoint.MODEL, endpoint.KEY),
        *("SKILLYARD_CACHE", "SKILLYARD_DEBUG", "SKILLYARD_INDEX"),
        *("SKILLYARD_KERNEL", "SKILLYARD_LOG", "SKILLYARD_LOG_TEXT", "SKILLYARD_STATE"),
        *("SKILLYARD_HTTP_TOKEN", "SKILLYARD_HTTP_TOKEN_FILE", "SKILLYARD_HTTP_URL"),
        *("SKILLYARD_PUBLISHER", "SKILLYARD_STORE", "SKILLYARD_TOOLS"),
        PROFILE_VARIABLE,
        SCORER_VARIABLE,
    }
)
"""The variables of skillyard's own."""
_LINE = re.compile(r"\(at line (\d+)")


def settings(request: Request) -> Iterator[Finding]:
    """Check the names of the variables, the settings file and the scorer."""
    for name in sorted(os.environ):
        if name.startswith("SKILLYARD_") and not name.startswith(PREFIX) and name not in VARIABLES:
            yield _unknown(name)
    yield _file()
    yield _scorer()


def _unknown(name: str) -> Finding:
    near = get_close_matches(name, sorted(VARIABLES), 1, 0.8)
    guess = f"; did you mean {near[0]}?" if near else ""
    return Finding(
        "environment.unknown",
        WARNING if near else INFO,
        f"{name} is set, and skillyard does not read it{guess}",
        "Correct its name or remove it.",
        details={"name": name},
    )


def _file() -> Finding:
    path = remote_settings.config_path()
    try:
        remote_settings.load_settings()
    except SkillyardError as error:
        line = _LINE.search(str(error))
        text = error.message if isinstance(error, SkillError) else str(error)
        return Finding(
            "settings",
            ERROR,
            f"the settings cannot be used: {text.removeprefix(f'{path}: ')}",
            "Correct the file, or the variable that names it.",
            path=path,
            line=int(line.group(1)) if line else None,
        )
    there = "the settings file can be read"
    message = there if os.path.isfile(path) else "no settings file; the defaults hold"
    return Finding("settings", OK, message, path=path)


def _scorer() -> Finding:
    try:
        name = default_scorer()
    except InvalidInput as error:
        return Finding(
            "scorer",
            ERROR,
            f"the default scorer cannot be used: {error}",
            f"Correct or remove {SCORER_VARIABLE}, or install what it names.",
        )
    return Finding("scorer", OK, f"the default scorer is {name}")
