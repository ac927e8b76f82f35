"""Evaluation runs: the plan and the execution of one layer, and its configuration."""

from __future__ import annotations

import os
import re
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, fields
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any, NamedTuple

from skillyard.base.configuration import read_section
from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command
from skillyard.base.text import clean_line, name_few, plural, shorten
from skillyard.engine.catalog import Catalog
from skillyard.evals.cases.reading import CasePlaces, Dataset
from skillyard.evals.cases.skill_cases import AnswerCases, read_answer_cases
from skillyard.evals.checks import require_library
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.layers.run import EvaluationResult, OnStep, Plan, execute, plan
from skillyard.evals.layers.session import ModelSession, PlanSession, moment
from skillyard.evals.layers.work import LayerWork, diagnostic_line, load_layer
from skillyard.evals.models.calls import (
    Budget,
    Calls,
    ChatModel,
    ModelFailed,
    Price,
    require_prices,
)
from skillyard.evals.models.providers import price
from skillyard.evals.models.sdk import offline_model, open_model
from skillyard.evals.settings import MODEL, Config, EvalOptions, RunSettings
from skillyard.evals.statistics.intervals import least_units
from skillyard.evals.storage import START, Entries, Events, start_of_run

_RUN_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")
"""It becomes a part of a file's name."""
_CHANGEABLE = {"max_cost", "max_calls", "concurrency", "base_url", "timeout_s"}
"""What a resume may change. A base URL is compared by the server that it names."""
_OF_MODELS = ("model", "provider", *_CHANGEABLE)
"""Settings that a scorer as the router does not use; below, those that a model does not."""
_OF_SCORERS = ("top_k", "min_score")


def eval_plan(
    catalog: Catalog,
    eval_type: str,
    options: EvalOptions,
    *,
    warn: Callable[[str], None] = lambda text: None,
) -> Plan:
    """Return the work and the cost of a run, without calling a model.

    ``warn`` gets what is left out of the cases. Needs no key, and no name of a model: the cost is
    then unknown. Otherwise raises the errors that :func:`eval_run` raises before its first call.
    """
    return _plan(_prepare_run(catalog, eval_type, options, warn, plans=True))


def eval_run(
    catalog: Catalog,
    eval_type: str,
    options: EvalOptions,
    *,
    stop: threading.Event | None = None,
    on_step: OnStep = lambda done, total, calls, cost: None,
    warn: Callable[[str], None] = lambda text: None,
) -> EvaluationResult:
    """Run one layer and write its results.

    Raises InvalidInput for invalid cases, configuration or settings; ModelFailed for a missing key
    or library; SkillError for files.
    """
    ready = _prepare_run(catalog, eval_type, options, warn)
    if LAYERS[eval_type].decides and not options.replay:
        _check_decidable(_plan(ready), options, warn)
    halt, run_id = stop or threading.Event(), new_run_id(options)
    with ExitStack() as at_end:
        session = _session(ready, at_end, run_id, halt, warn)
        try:
            return execute(
                ready.work,
                session,
                results=ready.results,
                run_id=run_id,
                stop=halt,
                on_step=on_step,
            )
        except KeyboardInterrupt:  # a second one, which waits for nothing
            if (lost := session.budget.spending()).lost_calls:
                warn(
                    f"{plural(lost.lost_calls, 'request')} gave no result and may have been billed,"
                    f" at most ${lost.lost_cost:.4f}; a resume of {run_id} counts this as spent"
                )
            raise


def read_rubrics(evals_dir: str, rubrics: str | None, catalog: Catalog) -> Dataset[AnswerCases]:
    """Return the rubrics of a folder, with their faults. Raises InvalidInput without any."""
    folder = rubrics or eval_config(evals_dir).paths.rubrics
    data = read_answer_cases(CasePlaces((folder,)), catalog)
    if not data.cases and not data.diagnostics:
        raise InvalidInput(f"there are no rubrics in {folder}")
    return data


def _check_decidable(planned: Plan, options: EvalOptions, warn: Callable[[str], None]) -> None:
    """Say what the prompts can show. Raises InvalidInput where they can decide nothing."""
    for message in sorted({message for _, message in planned.messages}):
        skills = [skill for skill, each in planned.messages if each == message]
        warn(f"{name_few(skills)}: {message}")
    undecidable = [each for each in planned.verdicts if not each.can_decide]
    if not undecidable or not planned.pays or options.anyway:
        return
    if len(planned.verdicts) >= least_units():
        warn(f"the verdict is on all {len(planned.verdicts)} skills together")
        return
    missing = sum(each.least_prompts - each.prompts for each in undecidable)
    kind = " that are judged (`expected`, `assertions`)" if planned.checks_only else ""
    raise InvalidInput(
        "nothing is paid for, since the prompts are too few for a verdict on"
        f" {name_few([each.skill for each in undecidable])};"
        f" write {plural(missing, 'more prompt')}{kind}, or give --anyway"
    )


class _ReadyRun(NamedTuple):
    """A run that only has to begin."""

    options: EvalOptions
    config: Config
    work: LayerWork
    results: str


def _plan(ready: _ReadyRun) -> Plan:
    """Return the plan, by a session that sends nothing. It does without the library of prices."""
    settings, prices = ready.work.settings, {}
    with suppress(ModelFailed):
        prices = _prices(settings)
    model = _answering(offline_model(settings.provider, settings.host), ready)
    entries = Entries(ready.results)
    return plan(ready.work, PlanSession(model, entries, settings, ready.options, prices))


def _session(
    ready: _ReadyRun,
    at_end: ExitStack,
    run_id: str,
    stop: threading.Event,
    warn: Callable[[str], None],
) -> ModelSession:
    """Return the models of the run behind its budget and its cache; ``at_end`` closes them.

    A replay has no server, nor has a scorer. Raises ModelFailed without a key or a library,
    InvalidInput for a limit without prices, and SkillIoError.
    """
    options, config, work, results = ready
    settings = work.settings
    pays = settings.asks_models and not options.replay
    prices = _prices(settings) if pays else {}
    model: ChatModel = offline_model(settings.provider, settings.host)
    if pays:
        caps = options.resume is not None or options.overrides.get("max_calls") is not None
        require_prices(settings.max_cost, settings.max_calls if caps else None, prices)
        online = open_model(settings.provider, base_url=settings.base_url)
        at_end.callback(online.close)
        model = online
    model = _answering(model, ready)
    events = at_end.enter_context(Events(results, run_id))
    events.append(
        START,
        timestamp=moment(),
        settings=asdict(settings),
        dataset_sha256=work.dataset_sha256,
    )
    if pays:
        model = Calls(
            model,
            Budget(settings.max_cost, settings.max_calls, events),
            retry=config.retry,
            prices=prices,
            stop=stop,
            consecutive=config.fail_fast.consecutive if config.fail_fast.enabled else None,
        )
    return ModelSession(model, Entries(results, warn), settings, options, prices)


def _answering(model: ChatModel, ready: _ReadyRun) -> ChatModel:
    """Return the model, or an agent with it where the run has a sandbox."""
    settings = ready.work.settings
    if settings.sandbox is None:
        return model
    from skillyard.evals.agent.model import AgentModel

    return AgentModel(model, settings.base_url, settings.sandbox, ready.results)


def _prices(settings: RunSettings) -> dict[str, Price | None]:
    """Return the price of each model. Raises ModelFailed without the library of prices."""
    models = dict.fromkeys((settings.model, settings.judge_model))
    return {name: price(settings.provider, name) for name in models if name}


def _prepare_run(
    catalog: Catalog,
    eval_type: str,
    options: EvalOptions,
    warn: Callable[[str], None],
    *,
    plans: bool = False,
) -> _ReadyRun:
    config = eval_config(options.evals_dir)
    results = options.results or config.paths.results
    start: Mapping[str, Any] = {}
    if options.resume is not None or options.replay:
        if options.resume is not None and not _RUN_ID.fullmatch(options.resume):
            raise InvalidInput(f"--resume {options.resume!r}: no run has such a name")
        start = start_of_run(results, eval_type, options.resume)
        settings = _settings_of(start, eval_type, options, config)
    else:
        settings = RunSettings.of(eval_type, config, options.overrides)
    _check_router(settings, options)
    if not plans:
        settings.require_models()
        if settings.sandbox is not None and not options.replay and not find_spec("inspect_ai"):
            raise InvalidInput(f"--sandbox needs inspect_ai; {install_command('eval-agent')}")
    own: str = getattr(config.paths, LAYERS[eval_type].cases)  # of this layer alone
    there = tuple(path for path in (own, config.paths.cases) if os.path.lexists(path))
    places = CasePlaces(tuple(options.paths) or there or (own,), options.in_skills, settings.skill)
    work = load_layer(eval_type).read(settings, places, catalog)
    digest = start.get("dataset_sha256")  # earlier releases did not store it
    if not options.replay and isinstance(digest, str) and digest != work.dataset_sha256:
        raise InvalidInput(
            f"the cases are not those that run {start['run_id']} began with; to start a new run,"
            " leave out --resume: what is the same in both is not paid for again"
        )
    for diagnostic in work.diagnostics:
        warn(diagnostic_line(diagnostic))
    if work.tested:
        _check_checks(work, options, warn)
    return _ReadyRun(options, config, work, results)


def _settings_of(
    start: Mapping[str, Any], eval_type: str, options: EvalOptions, config: Config
) -> RunSettings:
    """Return the settings of an earlier run, with what was given again.

    Raises InvalidInput where a resume would replace its results by those of other settings, and
    where the kept run alone names the server that would get our key.
    """
    before, run = RunSettings.from_dict(start["settings"]), f"run {options.resume}"
    if before.eval_type != eval_type:
        raise InvalidInput(
            f"{run} was one of {before.eval_type}, not of {eval_type}; to start a new run, leave"
            " out --resume"
        )
    given = {name: value for name, value in options.overrides.items() if value is not None}
    settings = RunSettings.from_dict({**asdict(before), **given})
    if options.replay:
        return settings
    address = settings.base_url
    if address not in (None, config.base_url, given.get("base_url")):
        raise InvalidInput(
            f"{run} asked {_shown(address)}, which the configuration does not name; give"
            " --base-url again to send your key there"
        )
    settings = settings.with_server()
    changes = [
        f"{_option(each.name)} is {_shown(new)}, and the run has {_shown(old)}"
        for each in fields(RunSettings)
        if each.name not in _CHANGEABLE
        and (new := getattr(settings, each.name)) != (old := getattr(before, each.name))
        and (settings.asks_models or each.name != "host")
    ]
    if changes:
        raise InvalidInput(
            f"{run} can only be resumed with its own settings: {'; '.join(changes)}; to start a"
            " new run, leave out --resume"
        )
    return settings


def _option(name: str) -> str:
    special = {"host": "the server (--base-url)", "timeout_s": "--timeout"}
    return special.get(name) or f"--{name.replace('_', '-')}"


def _shown(value: object) -> str:
    return "none" if value in (None, "") else shorten(clean_line(str(value)), 200)


def _check_router(settings: RunSettings, options: EvalOptions) -> None:
    """Raise InvalidInput for an option that means nothing to the router of the run."""
    asks = settings.asks_models
    needs = "--router with a scorer" if asks else f"--router {MODEL}"
    names = _OF_SCORERS if asks else _OF_MODELS
    unused = [name for name in names if options.overrides.get(name) is not None]
    unused += [name for name in ("regenerate", "replay") if not asks and getattr(options, name)]
    if unused:
        named = ", ".join(sorted(map(_option, unused)))
        raise InvalidInput(f"{named}: {settings.router} picks the skills here; add {needs}")


def _check_checks(work: LayerWork, options: EvalOptions, warn: Callable[[str], None]) -> None:
    """Warn of scripts that will not run. Raises InvalidInput where a library is missing."""
    checks = [check for unit in work.cases for check in unit.case.checks]
    require_library(checks)
    scripts = len({check.value for check in checks if check.kind == "script"})
    if scripts and not options.allow_scripts:
        what = "1 script" if scripts == 1 else f"{scripts} scripts"
        warn(f"{what} of checks will not run; --allow-scripts runs them")


def eval_config(evals_dir: str) -> Config:
    """Return the section ``[eval]`` for an evaluations folder. Raises SkillyardError."""
    return read_section("eval", Config, evals_dir).below(evals_dir)


def new_run_id(options: EvalOptions) -> str:
    """Return the name of a run; a resumed run keeps its own.

    It is the time to the second, the microsecond in hexadecimal, and random digits: of two runs
    that began within one second, the later one has the later name.
    """
    if options.resume is not None and not options.replay:
        return options.resume
    now = datetime.now(UTC)
    return f"{now:%Y%m%dT%H%M%SZ}-{now.microsecond:05x}{secrets.token_hex(1)}"
