"""Evaluation runs: the plan and the execution of one layer, its configuration, and suggestions."""

from __future__ import annotations

import os
import re
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skillyard.catalog import Catalog
from skillyard.errors import InvalidInput
from skillyard.evals.config import Config, read_config
from skillyard.evals.layers.datasets import BadCases, Pairs, Places, Routes, prepare
from skillyard.evals.layers.plan import Plan, plan
from skillyard.evals.layers.runner import EvaluationResult, Step, execute, moment
from skillyard.evals.layers.session import Session
from skillyard.evals.models.parameters import OfflineModel
from skillyard.evals.models.prices import Price, price
from skillyard.evals.models.protocol import ChatModel, ModelFailed
from skillyard.evals.settings import ROUTED, RunSettings
from skillyard.evals.storage.entries import Entries
from skillyard.evals.storage.events import START, read_events, settings_of_run
from skillyard.text import clean_line, shorten

if TYPE_CHECKING:
    from skillyard.evals.cases.labels import Label
    from skillyard.evals.models.calls import Calls
    from skillyard.usecases.suggestions import Suggestions

__all__ = ["EvalOptions", "eval_config", "eval_plan", "eval_run", "eval_suggest"]

CONFIG = "config.yaml"
_RUN_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")
"""It becomes a part of a file's name."""
_PATHS = {
    "activation": "activation",
    "confusion": "confusion",
    "effectiveness": "rubrics",
    "size_impact": "candidates",
}
"""Which of the configured places holds the cases of a layer."""


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """The options of a run beside its cases."""

    evals_dir: str = "evals"
    paths: tuple[str, ...] = ()
    """Case files, instead of those that the configuration names."""
    in_skills: bool = False
    """Read the cases that lie in the skills' own ``evals`` folders."""
    results: str | None = None
    """Where results and everything kept lie, instead of the configured folder."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """Settings by name that override the configuration; None when not given."""
    resume: str | None = None
    """A run whose settings are taken over."""
    replay: bool = False
    regenerate: bool = False
    rejudge: bool = False
    labels: tuple[str, ...] = ()
    """Files of pairs that people have judged."""


def eval_plan(catalog: Catalog, eval_type: str, options: EvalOptions) -> Plan:
    """Return the work and the cost of a run, without calling a model. Needs no key.

    Raises the errors that :func:`eval_run` raises before its first call.
    """
    ready = _ready(catalog, eval_type, options, lambda text: None)
    settings = ready.settings
    return plan(
        ready.work,
        settings,
        catalog,
        _described(settings),
        Entries(ready.results),
        _known_prices(settings).get,
        fresh_generations=options.regenerate,
        fresh_judgements=options.regenerate or options.rejudge,
        keep_failures=options.resume is not None or options.replay,
    )


def eval_run(
    catalog: Catalog,
    eval_type: str,
    options: EvalOptions,
    *,
    stop: threading.Event | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
    warn: Callable[[str], None] = lambda text: None,
    engine_version: str = "",
) -> EvaluationResult:
    """Run one layer and write its results.

    Raises BadCases and InvalidInput for invalid cases, configuration or settings; ModelFailed for a
    missing key or library; SkillError for files.
    """
    ready = _ready(catalog, eval_type, options, warn)
    settings = ready.settings
    halt = stop or threading.Event()
    calls, session, source = None, None, ""
    with ExitStack() as at_end:
        if settings.asks_models:
            prices = {} if options.replay else _prices(settings)  # nothing is paid for
            source = next((price.source for price in prices.values() if price is not None), "")
            model: ChatModel
            if options.replay:
                model = _described(settings)
            else:
                model = calls = _calls(ready, prices, halt, at_end)
            session = _session(ready, options, model, calls, prices, warn)
        return execute(
            ready.work,
            settings,
            catalog,
            results=ready.results,
            run_id=_run_id(options),
            session=session,
            calls=calls,
            stop=halt,
            on_step=on_step,
            price_source=source,
            engine_version=engine_version,
            labels=_labels(options.labels),
        )


def _labels(paths: tuple[str, ...]) -> tuple[Label, ...]:
    if not paths:
        return ()
    from skillyard.evals.cases.labels import read_labels

    data = read_labels(*paths)
    if data.errors:
        raise BadCases(data.diagnostics)
    return data.cases


@dataclass(frozen=True, slots=True)
class _Ready:
    """A run that only has to begin."""

    config: Config
    settings: RunSettings
    work: Pairs | Routes
    results: str
    calls_capped: bool
    """``--max-calls`` was given for this run: it replaces an unknown price."""


def _ready(
    catalog: Catalog, eval_type: str, options: EvalOptions, warn: Callable[[str], None]
) -> _Ready:
    config = eval_config(options.evals_dir)
    results = options.results or config.paths.results
    if options.resume is not None or options.replay:
        before = _before(results, eval_type, options.resume)
        overrides = {name: value for name, value in options.given.items() if value is not None}
        settings = RunSettings.from_dict({**before, **overrides})
        if not options.replay:
            _check_address(settings, config, options)
    else:
        settings = RunSettings.of(eval_type, config, options.given)
    if settings.eval_type != eval_type:
        raise InvalidInput(f"run {options.resume} was one of {settings.eval_type}")
    settings.require_models()
    paths = options.paths or (getattr(config.paths, _PATHS[eval_type]),)
    work = prepare(settings, Places(tuple(paths), options.in_skills), catalog)
    for diagnostic in work.diagnostics:
        line = f":{diagnostic.line}" if diagnostic.line else ""
        warn(f"{diagnostic.path}{line}: {diagnostic.message}; {diagnostic.hint}")
    capped = options.resume is not None or options.given.get("max_calls") is not None
    return _Ready(config, settings, work, results, capped)


def eval_config(evals_dir: str) -> Config:
    """Return the configuration of an evaluations folder; the defaults where it has none.

    Raises BadCases with every error of the file.
    """
    path = os.path.join(evals_dir, CONFIG)
    if not os.path.lexists(path):
        return Config().below(evals_dir)
    config, diagnostics = read_config(path)
    if config is None:
        raise BadCases(diagnostics)
    return config


def _before(results: str, eval_type: str, run_id: str | None) -> Mapping[str, Any]:
    """Return the settings of an earlier run: of that one, else of the latest of the type."""
    if run_id is not None:
        if not _RUN_ID.fullmatch(run_id):
            raise InvalidInput(f"--resume {run_id!r}: no run has such a name")
        return settings_of_run(results, run_id)
    latest: Mapping[str, Any] | None = None
    for record in read_events(results, only=START):
        settings = record.get("settings")
        if isinstance(settings, dict) and settings.get("eval_type") == eval_type:
            latest = settings
    if latest is None:
        raise InvalidInput(f"nothing to replay: no run of {eval_type} was begun in {results}")
    return latest


def _check_address(settings: RunSettings, config: Config, options: EvalOptions) -> None:
    """Raise InvalidInput where a kept run alone names the server that would get our key."""
    named = settings.base_url
    if named is None or named in (config.base_url, options.given.get("base_url")):
        return
    shown = shorten(clean_line(named), 200)
    raise InvalidInput(
        f"run {options.resume} asked {shown}, which the configuration does not name;"
        " give --base-url again to send your key there"
    )


def _described(settings: RunSettings) -> ChatModel:
    return OfflineModel(settings.provider, settings.host, settings.profiles)


def _prices(settings: RunSettings) -> dict[str, Price | None]:
    models = dict.fromkeys((settings.model, *settings.judge_models))
    return {name: price(settings.provider, name) for name in models}


def _known_prices(settings: RunSettings) -> dict[str, Price | None]:
    """Return the prices for a plan, which does without the library that knows them."""
    try:
        return _prices(settings)
    except ModelFailed:
        return {}


def _calls(
    ready: _Ready,
    prices: Mapping[str, Price | None],
    stop: threading.Event,
    at_end: ExitStack,
) -> Calls:
    """Open the models; ``at_end`` closes their connections."""
    from skillyard.evals.models.calls import Calls, Retry
    from skillyard.evals.models.factory import open_model
    from skillyard.evals.models.ledger import Ledger, require_prices

    settings, config = ready.settings, ready.config
    require_prices(settings.max_cost, settings.max_calls if ready.calls_capped else None, prices)
    model = open_model(
        settings.provider, base_url=settings.base_url, profiles=settings.profiles or None
    )
    at_end.callback(getattr(model, "close", _nothing))
    times = config.retry
    routed = settings.eval_type in ROUTED
    return Calls(
        model,
        retry=Retry(times.max_retries, times.base_s, times.jitter, seed=settings.seed),
        ledger=Ledger(settings.max_cost, settings.max_calls),
        prices=prices.get,
        stop=stop,
        limit_s=config.timeouts.routing_case_s if routed else config.timeouts.case_s,
        consecutive=config.fail_fast.consecutive if config.fail_fast.enabled else None,
    )


def _session(
    ready: _Ready,
    options: EvalOptions,
    model: ChatModel,
    calls: Calls | None,
    prices: Mapping[str, Price | None],
    warn: Callable[[str], None],
) -> Session:
    settings, timeouts = ready.settings, ready.config.timeouts
    routed = settings.eval_type in ROUTED
    return Session(
        model,
        Entries(ready.results, warn),
        now=moment,
        price_of=prices.get,
        case=calls.case if calls is not None else None,
        timeout_s=timeouts.routing_s if routed else timeouts.generation_s,
        judge_timeout_s=timeouts.judge_s,
        judge_retries=settings.judge_retries,
        judge_tokens=settings.judge_tokens,
        temperature=settings.temperature,
        offline=options.replay,
        fresh_generations=options.regenerate,
        fresh_judgements=options.regenerate or options.rejudge,
        keep_failures=options.resume is not None,
    )


def _run_id(options: EvalOptions) -> str:
    """Return the name of a run; a resumed run keeps its own.

    It is the time to the second, the microsecond in hexadecimal, and random digits: of two runs
    that began within one second, the later one has the later name.
    """
    if options.resume is not None and not options.replay:
        return options.resume
    now = datetime.now(UTC)
    return f"{now:%Y%m%dT%H%M%SZ}-{now.microsecond:05x}{secrets.token_hex(1)}"


def eval_suggest(
    catalog: Catalog, skill: str, evals_dir: str, paths: tuple[str, ...] = ()
) -> Suggestions:
    """Return suggestions on when a skill is activated, from its activation cases.

    Raises BadCases for errors in case files, SkillNotFound, AmbiguousName.
    """
    from skillyard.evals.cases.activation import read_activation
    from skillyard.usecases.suggestions import suggest

    places = paths or (eval_config(evals_dir).paths.activation,)
    data = read_activation(*places, catalog=catalog)
    if data.errors:
        raise BadCases(data.diagnostics)
    return suggest(catalog, skill, data.cases)


def _nothing() -> None:
    """What closes a model that needs no closing."""
