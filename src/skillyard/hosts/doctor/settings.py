"""Check environment variables, ``skillyard.toml`` and the scorer. No value is reported."""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import get_close_matches

from skillyard.base.configuration import (
    CONFIG_FILE,
    CONFIG_VARIABLE,
    SECTIONS,
    project_folders,
    read_section,
    record_of,
    user_file,
)
from skillyard.base.errors import SkillError, SkillyardError
from skillyard.base.shapes.doctor import Finding
from skillyard.check.validation.config import find_check_config
from skillyard.engine.embedding.endpoint import EmbeddingsSection, HttpEmbedder
from skillyard.engine.ranking.registry import default_scorer, resolve
from skillyard.hosts.doctor.finding import ERROR, INFO, OK, WARNING, Request, make_finding
from skillyard.install.policy.library import PROFILE_VARIABLE
from skillyard.install.sources.settings import OFFLINE, load_settings
from skillyard.store.opening import check_kind

VARIABLES = frozenset(
    {
        *("SKILLYARD_CACHE", "SKILLYARD_STATE", "SKILLYARD_STORE", "SKILLYARD_TOOLS"),
        *(CONFIG_VARIABLE, "SKILLYARD_HTTP_TOKEN", OFFLINE, PROFILE_VARIABLE),
    }
)
"""The variables of skillyard's own."""


def settings(request: Request) -> Iterator[Finding]:
    """Check the names of the variables, the configuration and the scorer."""
    for name in sorted(os.environ):
        if name.startswith("SKILLYARD_") and name not in VARIABLES:
            yield _unknown(name)
    yield _configuration()
    yield _scorer()


def _unknown(name: str) -> Finding:
    near = get_close_matches(name, sorted(VARIABLES), 1, 0.8)
    guess = f"; did you mean {near[0]}?" if near else ""
    return make_finding(
        "environment.unknown",
        WARNING if near else INFO,
        f"{name} is set, and skillyard does not read it{guess}",
        "Correct its name or remove it: all other settings are keys of skillyard.toml.",
        details={"name": name},
    )


def _configuration() -> Finding:
    path = user_file()
    try:
        for name in SECTIONS:
            read_section(name, record_of(name))
        find_check_config(".")  # refuses the files that earlier releases read
        sources = load_settings()
    except SkillyardError as error:
        where = error if isinstance(error, SkillError) else None
        return make_finding(
            "settings",
            ERROR,
            f"the configuration cannot be used: {str(error) if where is None else where.message}",
            (where and where.hint) or "Correct the file, or the variable that names it.",
            path=path if where is None else where.path,
            line=None if where is None else where.line,
        )
    for key, value, check in (
        ("store.url", read_section("store", record_of("store")).url, check_kind),
        ("sources.ranker", sources.ranker, resolve),
        ("embeddings.url", read_section("embeddings", EmbeddingsSection).url, _check_embeddings),
    ):
        try:
            if value:
                check(value)
        except SkillyardError:  # its text may repeat the value
            message = f"the value of {key} cannot be used"
            remedy = f"Correct {key} in skillyard.toml, or install what it needs."
            return make_finding("settings", ERROR, message, remedy, path=path)
    places = (path, *(os.path.join(each, CONFIG_FILE) for each in project_folders(".")))
    files = [each for each in places if os.path.isfile(each)]
    message = "skillyard.toml can be read" if files else "no skillyard.toml; the defaults hold"
    return make_finding("settings", OK, message, path=files[0] if files else path)


def _check_embeddings(url: str) -> None:
    section = read_section("embeddings", EmbeddingsSection)
    HttpEmbedder(url, section.model, key=section.key or None)


def _scorer() -> Finding:
    try:
        name = default_scorer()
    except SkillyardError:
        remedy = "Correct scorer.name in skillyard.toml, or install what it names."
        return make_finding("scorer", ERROR, "the default scorer cannot be used", remedy)
    return make_finding("scorer", OK, f"the default scorer is {name}")
