"""Check environment variables, the settings file and the embedder. Values are not reported."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from difflib import get_close_matches

from skillyard.embedding import endpoint
from skillyard.embedding.protocol import embedder_names
from skillyard.errors import EmbedderFailed, InvalidInput, SkillError, SkillyardError
from skillyard.policy.places import PROFILE_VARIABLE
from skillyard.ranking.registry import SCORER_VARIABLE, default_scorer
from skillyard.remote.sources import settings
from skillyard.remote.sources.host_tokens import PREFIX
from skillyard.remote.sources.settings import GITHUB_TOKENS, Settings, config_path, load_settings
from skillyard.usecases.doctor.finding import ERROR, INFO, OK, WARNING, Finding
from skillyard.usecases.doctor.installation import missing_of, reinstall_command
from skillyard.usecases.doctor.programs import unset_command
from skillyard.usecases.doctor.request import Request

__all__ = ["VARIABLES", "environment"]

VARIABLES = frozenset(
    {
        *settings.VARIABLES,
        *(endpoint.URL, endpoint.MODEL, endpoint.KEY),
        *("SKILLYARD_CACHE", "SKILLYARD_DEBUG", "SKILLYARD_INDEX"),
        *("SKILLYARD_KERNEL", "SKILLYARD_LOG", "SKILLYARD_LOG_TEXT", "SKILLYARD_STATE"),
        *("SKILLYARD_HTTP_TOKEN", "SKILLYARD_HTTP_TOKEN_FILE", "SKILLYARD_HTTP_URL"),
        *("SKILLYARD_PUBLISHER", "SKILLYARD_STORE", "SKILLYARD_TOOLS"),
        PROFILE_VARIABLE,
        SCORER_VARIABLE,
        *("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        *("CLAUDE_CONFIG_DIR", "CODEX_HOME"),
        *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"),
    }
)
"""The variables that skillyard reads, those of terminals aside."""
_LINE = re.compile(r"\(at line (\d+)")


def environment(request: Request) -> Iterator[Finding]:
    """Check the variables, the settings file, the GitHub token and the embedder."""
    known = {*VARIABLES, *(name for name in os.environ if name.startswith(PREFIX))}
    names = sorted(name for name in known if os.environ.get(name))
    listed = ", ".join(names)
    message = f"set for skillyard: {listed}" if names else "no variable of skillyard is set"
    yield Finding("environment", OK, message, details={"set": names})
    for name in sorted(os.environ):
        if name.startswith("SKILLYARD_") and name not in known:
            yield _unknown(name)
    yield from _settings()
    yield _scorer()
    yield _embedder()


def _unknown(name: str) -> Finding:
    near = get_close_matches(name, sorted(VARIABLES), 1, 0.8)
    guess = f"; did you mean {near[0]}?" if near else ""
    return Finding(
        "environment.unknown",
        WARNING if near else INFO,
        f"{name} is set, and skillyard does not read it{guess}",
        "Correct its name or remove it.",
        unset_command(name) if re.fullmatch("[A-Za-z0-9_]+", name) else "",
        details={"name": name},
    )


def _settings() -> Iterator[Finding]:
    path = config_path()
    try:
        settings = load_settings()
    except SkillyardError as error:
        line = _LINE.search(str(error))
        yield Finding(
            "settings",
            ERROR,
            f"the settings cannot be used: {_sentence(error, path)}",
            "Correct the file, or the variable that names it.",
            path=path,
            line=int(line.group(1)) if line else None,
        )
        return
    if os.path.isfile(path):
        yield Finding("settings", OK, "the settings file can be read", path=path)
    else:
        yield Finding("settings", OK, "no settings file; the defaults hold", path=path)
    yield _network(settings)


def _sentence(error: SkillyardError, path: str) -> str:
    text = error.message if isinstance(error, SkillError) else str(error)
    return text.removeprefix(f"{path}: ")


def _network(settings: Settings) -> Finding:
    if settings.offline:
        is_variable = bool(os.environ.get("SKILLYARD_OFFLINE"))
        cause = "SKILLYARD_OFFLINE is set" if is_variable else "the settings say cache.offline"
        return Finding(
            "network",
            INFO,
            f"no remote is asked: {cause}",
            "Remove the setting to search remotes again.",
            unset_command("SKILLYARD_OFFLINE") if is_variable else "",
        )
    if not settings.github_token:
        return Finding(
            "network",
            INFO,
            "no GitHub token is set, so GitHub answers 60 requests an hour",
            "Set a token if you search repositories often; one without any scope is enough.",
            "export GITHUB_TOKEN=$(gh auth token)",
        )
    name = next(name for name in GITHUB_TOKENS if os.environ.get(name))
    return Finding("network", OK, f"remotes are asked; the GitHub token comes from {name}")


def _scorer() -> Finding:
    try:
        name = default_scorer()
    except InvalidInput as error:
        return Finding(
            "scorer",
            ERROR,
            f"the default scorer cannot be used: {error}",
            "Correct or remove the variable, or install what it names.",
            unset_command(SCORER_VARIABLE),
        )
    return Finding("scorer", OK, f"the default scorer is {name}")


def _without_server() -> str:
    if "encoder" in embedder_names():
        return "the sentence encoder is installed; `--scorer hybrid+encoder` uses it"
    return (
        "no embeddings server is named, and skillyard-encoder is not installed; `hybrid` works"
        " without them, and finds less for vague requests"
    )


def _embedder() -> Finding:
    names = [name for name in (endpoint.URL, endpoint.MODEL) if os.environ.get(name)]
    if not names:
        return Finding("embedder", OK, _without_server())
    if len(names) == 1:
        (missing,) = {endpoint.URL, endpoint.MODEL} - {*names}
        return Finding(
            "embedder",
            WARNING,
            f"{names[0]} is set without {missing}, so `hybrid+http` cannot be used",
            f"Set {missing} as well, or remove {names[0]}.",
            unset_command(names[0]),
        )
    try:
        endpoint.from_environment()
    except EmbedderFailed:
        return Finding(
            "embedder",
            ERROR,
            "an embeddings server is named, and the extra `remote` that asks it is not installed",
            "Install the extra `remote`.",
            reinstall_command(missing_of("remote")),
        )
    except ValueError:  # its message repeats the address, which may hold a password
        return Finding(
            "embedder",
            ERROR,
            f"{endpoint.URL} is not an http or https address without a login",
            f"Set the whole address of the embeddings route; a key belongs in {endpoint.KEY}.",
        )
    return Finding("embedder", OK, "an embeddings server is named for `hybrid+http`; not contacted")
