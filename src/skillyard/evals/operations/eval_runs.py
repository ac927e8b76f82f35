"""Evaluation runs: the plan and the execution of one layer, and its configuration."""

from __future__ import annotations

import os
import re
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, NamedTuple

from skillyard.base.configuration import CONFIG_FILE, read_section
from skillyard.base.errors import Diagnostic, InvalidInput
from skillyard.base.text import clean_line, plural, shorten
from skillyard.engine.catalog import Catalog
from skillyard.evals.agent.model import require_inspect
from skillyard.evals.cases.answers import read_answer_cases
from skillyard.evals.cases.case_files import CasePlaces
from skillyard.evals.checks.outcome import require_library
from skillyard.evals.config_values import Config
from skillyard.evals.layers.plan import Plan, PlanSession, plan
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.layers.runner import EvaluationResult, RunModels, RunStep, execute
from skillyard.evals.layers.session import ModelSession
from skillyard.evals.layers.work import LayerWork, diagnostic_line, load_layer
from skillyard.evals.models.budget import Budget, Spending, require_prices
from skillyard.evals.models.calls import Calls
from skillyard.evals.models.prices import Price, price
from skillyard.evals.models.protocol import ChatModel, ModelFailed
from skillyard.evals.models.sdk import SdkModel, offline_model, open_model
from skillyard.evals.settings import MODEL, RunSettings
from skillyard.evals.storage.entries import Entries
from skillyard.evals.storage.events import Events, start_of_latest_run, start_of_run

_FORMER = "config.yaml"
_RUN_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")
"""It becomes a part of a file's name."""
_OF_MODELS: Sequence[str] = (
    "model",
    "provider",
    "base_url",
    "max_cost",
    "max_calls",
    "concurrency",
    "timeout_s",
)
"""Settings that a scorer as the router does not use; below, those that a model does not."""
_OF_SCORERS = ("top_k", "min_score")
_NAMED = 12
"""Skills that a message names."""


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """The options of a run beside its cases."""

    evals_dir: str = "evals"
    paths: Sequence[str] = ()
    """Case files, instead of those that the configuration names."""
    in_skills: bool = False
    """Read the cases that lie in the skills' own ``evals`` folders."""
    results: str | None = None
    """Where results and everything kept lie, instead of the configured folder."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Settings by name that override the configuration; None when not given."""
    resume: str | None = None
    """A run whose settings are taken over."""
    replay: bool = False
    regenerate: bool = False
    rejudge: bool = False
    allow_scripts: bool = False
    """Run the scripts of checks."""
    anyway: bool = False
    """Pay for a run although its prompts are too few for any verdict."""


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
    ready = _prepare_run(catalog, eval_type, options, warn, plans=True)
    return plan(ready.work, ready.plan_session())


def eval_run(
    catalog: Catalog,
    eval_type: str,
    options: EvalOptions,
    *,
    stop: threading.Event | None = None,
    on_step: Callable[[RunStep], None] = lambda step: None,
    warn: Callable[[str], None] = lambda text: None,
    engine_version: str = "",
) -> EvaluationResult:
    """Run one layer and write its results.

    Raises BadCases and InvalidInput for invalid cases, configuration or settings; ModelFailed for a
    missing key or library; SkillError for files.
    """
    ready = _prepare_run(catalog, eval_type, options, warn)
    settings = ready.settings
    if LAYERS[eval_type].decides and not options.replay:
        _check_decidable(plan(ready.work, ready.plan_session()), options, warn)
    halt = stop or threading.Event()
    run_id = new_run_id(options)
    with ExitStack() as at_end:
        model = None
        if settings.asks_models and not options.replay:
            model = ready.online_model()
            at_end.callback(model.close)
        events = at_end.enter_context(Events(ready.results, run_id))
        models = (
            ready.open_models(model, events, halt, warn) if settings.asks_models else RunModels()
        )
        try:
            return execute(
                ready.work,
                events,
                results=ready.results,
                run_id=run_id,
                models=models,
                stop=halt,
                on_step=on_step,
                engine_version=engine_version,
            )
        except KeyboardInterrupt:
            if models.calls is not None:
                _warn_of_lost_calls(models.calls.budget.spending(), run_id, warn)
            raise


class RubricCheck(NamedTuple):
    """The diagnostics of a folder of rubrics."""

    rubrics: int
    """Those without an error."""
    diagnostics: tuple[Diagnostic, ...]

    @property
    def valid(self) -> bool:
        """True when no finding is an error."""
        return not any(each.severity == "error" for each in self.diagnostics)

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.eval-rubrics/1``."""
        return {
            "schema": "skillyard.eval-rubrics/1",
            "rubrics": self.rubrics,
            "valid": self.valid,
            "diagnostics": [each.to_dict() for each in self.diagnostics],
        }


def check_rubrics(evals_dir: str, rubrics: str | None, catalog: Catalog) -> RubricCheck:
    """Return the diagnostics of the rubrics of a folder. Raises InvalidInput without any."""
    folder = rubrics or eval_config(evals_dir).paths.rubrics
    data = read_answer_cases(CasePlaces((folder,)), catalog)
    if not data.cases and not data.diagnostics:
        raise InvalidInput(f"there are no rubrics in {folder}")
    return RubricCheck(len(data.cases), data.diagnostics)


def _warn_of_lost_calls(spending: Spending, run_id: str, warn: Callable[[str], None]) -> None:
    """Say what a second interrupt, which waits for nothing, left without a result."""
    if spending.lost_calls:
        warn(
            f"{plural(spending.lost_calls, 'request')} gave no result and may have been billed, at"
            f" most ${spending.lost_cost:.4f}; a resume of {run_id} counts this as spent"
        )


def _check_decidable(planned: Plan, options: EvalOptions, warn: Callable[[str], None]) -> None:
    """Say what the prompts can show. Raises InvalidInput where they can decide nothing."""
    for message, skills in sorted(planned.messages.items()):
        warn(f"{_first(skills)}: {message}")
    if not planned.undecidable or not planned.pays or options.anyway:
        return
    if planned.pool_can_decide:
        warn(f"the verdict is on all {len(planned.verdicts)} skills together")
        return
    missing = sum(each.least_prompts - each.prompts for each in planned.undecidable)
    kind = " that are judged (`expected`, `assertions`)" if planned.checks_only else ""
    raise InvalidInput(
        "nothing is paid for, since the prompts are too few for a verdict on"
        f" {_first([each.skill for each in planned.undecidable])};"
        f" write {plural(missing, 'more prompt')}{kind}, or give --anyway"
    )


def _first(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    left = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {left:,} more" if left > 0 else "")


@dataclass(frozen=True, slots=True)
class ReadyRun:
    """A run that only has to begin."""

    options: EvalOptions
    config: Config
    work: LayerWork
    results: str

    @property
    def settings(self) -> RunSettings:
        """The settings of the run."""
        return self.work.settings

    def offline_model(self) -> ChatModel:
        """Return the models of the run, which are not asked."""
        settings = self.settings
        return self.with_agents(offline_model(settings.provider, settings.host))

    def with_agents(self, model: ChatModel) -> ChatModel:
        """Return the model, which answers as an agent where the run has a sandbox."""
        settings = self.settings
        if settings.sandbox is None:
            return model
        from skillyard.evals.agent.model import AgentModel

        return AgentModel(model, settings.base_url, settings.sandbox, self.results)

    def online_model(self) -> SdkModel:
        """Return the models of the run. Raises ModelFailed without a key or a library."""
        settings, options = self.settings, self.options
        caps_calls = options.resume is not None or options.overrides.get("max_calls") is not None
        require_prices(settings.max_cost, settings.max_calls if caps_calls else None, self.prices())
        return open_model(settings.provider, base_url=settings.base_url)

    def prices(self) -> dict[str, Price | None]:
        """Return the price of each model. Raises ModelFailed without the library of prices."""
        models = dict.fromkeys((self.settings.model, self.settings.judge_model))
        return {name: price(self.settings.provider, name) for name in models if name}

    def plan_session(self) -> PlanSession:
        """Return a session that sends nothing. It does without the library of prices."""
        options = self.options
        prices: dict[str, Price | None] = {}
        with suppress(ModelFailed):
            prices = self.prices()
        return PlanSession(
            self.offline_model(),
            Entries(self.results),
            self.settings,
            price_of=prices.get,
            fresh_generations=options.regenerate,
            fresh_judgements=options.regenerate or options.rejudge,
            keep_failures=options.resume is not None or options.replay,
        )

    def open_models(
        self,
        model: ChatModel | None,
        events: Events,
        stop: threading.Event,
        warn: Callable[[str], None],
    ) -> RunModels:
        """Return the models of a run behind its budget and its cache; None is a replay."""
        settings, options, config = self.settings, self.options, self.config
        prices = {} if model is None else self.prices()  # nothing is paid for
        calls = None
        if model is not None:
            calls = Calls(
                self.with_agents(model),
                Budget(settings.max_cost, settings.max_calls, events),
                retry=config.retry,
                price_of=prices.get,
                stop=stop,
                consecutive=config.fail_fast.consecutive if config.fail_fast.enabled else None,
            )
        session = ModelSession(
            calls or self.offline_model(),
            Entries(self.results, warn),
            settings,
            price_of=prices.get,
            offline=options.replay,
            fresh_generations=options.regenerate,
            fresh_judgements=options.regenerate or options.rejudge,
            keep_failures=options.resume is not None,
            allow_scripts=options.allow_scripts,
        )
        return RunModels(session, calls, prices)


def _prepare_run(
    catalog: Catalog,
    eval_type: str,
    options: EvalOptions,
    warn: Callable[[str], None],
    *,
    plans: bool = False,
) -> ReadyRun:
    config = eval_config(options.evals_dir)
    results = options.results or config.paths.results
    start: Mapping[str, Any] = {}
    if options.resume is not None or options.replay:
        start = _first_event(results, eval_type, options.resume)
        before = RunSettings.from_dict(start["settings"])
        if before.eval_type != eval_type:
            raise InvalidInput(
                f"run {options.resume} was one of {before.eval_type}, not of {eval_type}; to start"
                " a new run, leave out --resume"
            )
        overrides = {name: value for name, value in options.overrides.items() if value is not None}
        settings = RunSettings.from_dict({**before.to_dict(), **overrides})
        if not options.replay:
            _check_address(settings, config, options)
            settings = settings.with_server()
            _check_unchanged(before, settings, options)
    else:
        settings = RunSettings.of(eval_type, config, options.overrides)
    _check_router(settings, options)
    if not plans:
        settings.require_models()
        if settings.sandbox is not None and not options.replay:
            require_inspect()
    paths = tuple(options.paths) or _default_paths(config, eval_type)
    places = CasePlaces(paths, options.in_skills, settings.skill)
    work = load_layer(eval_type).read(settings, places, catalog)
    if options.resume is not None and not options.replay:
        _check_same_cases(start, work)
    for diagnostic in work.diagnostics:
        warn(diagnostic_line(diagnostic))
    if work.tested:
        _check_checks(work, options, warn)
    return ReadyRun(options, config, work, results)


def _check_router(settings: RunSettings, options: EvalOptions) -> None:
    """Raise InvalidInput for an option that means nothing to the router of the run."""
    asks = settings.asks_models
    needs = "--router with a scorer" if asks else f"--router {MODEL}"
    names = _OF_SCORERS if asks else _OF_MODELS
    unused = [name for name in names if options.overrides.get(name) is not None]
    unused += [name for name in ("regenerate", "replay") if not asks and getattr(options, name)]
    if unused:
        named = ", ".join(map(_option, unused))
        raise InvalidInput(f"{named}: {settings.router} picks the skills here; add {needs}")


def _check_checks(work: LayerWork, options: EvalOptions, warn: Callable[[str], None]) -> None:
    """Warn of scripts that will not run. Raises InvalidInput where a library is missing."""
    checks = [check for unit in work.cases for check in unit.case.checks]
    require_library(checks)
    scripts = len({check.value for check in checks if check.kind == "script"})
    if scripts and not options.allow_scripts:
        what = "1 script" if scripts == 1 else f"{scripts} scripts"
        warn(f"{what} of checks will not run; --allow-scripts runs them")


def _default_paths(config: Config, eval_type: str) -> tuple[str, ...]:
    """Return the case files of the skills, and the place of cases for this layer alone."""
    own: str = getattr(config.paths, LAYERS[eval_type].cases)
    paths = tuple(path for path in (own, config.paths.cases) if os.path.lexists(path))
    return paths or (own,)


def eval_config(evals_dir: str) -> Config:
    """Return the section ``[eval]`` for an evaluations folder. Raises SkillyardError."""
    former = os.path.join(evals_dir, _FORMER)
    if os.path.lexists(former):
        raise InvalidInput(
            f"{former} is not read any more: move it to [eval] in"
            f" {os.path.join(evals_dir, CONFIG_FILE)}, with default_seed for rng.default_seed"
        )
    return read_section("eval", Config, evals_dir).below(evals_dir)


def _first_event(results: str, eval_type: str, run_id: str | None) -> Mapping[str, Any]:
    """Return the first event of an earlier run: of that one, else of the latest of the type."""
    if run_id is None:
        return start_of_latest_run(results, eval_type)
    if not _RUN_ID.fullmatch(run_id):
        raise InvalidInput(f"--resume {run_id!r}: no run has such a name")
    return start_of_run(results, run_id)


def _check_address(settings: RunSettings, config: Config, options: EvalOptions) -> None:
    """Raise InvalidInput where a kept run alone names the server that would get our key."""
    named = settings.base_url
    if named is None or named in (config.base_url, options.overrides.get("base_url")):
        return
    shown = shorten(clean_line(named), 200)
    raise InvalidInput(
        f"run {options.resume} asked {shown}, which the configuration does not name;"
        " give --base-url again to send your key there"
    )


def _check_unchanged(before: RunSettings, settings: RunSettings, options: EvalOptions) -> None:
    """Raise InvalidInput where a resume would replace the results by those of other settings.

    Only limits and concurrency may differ. A base URL is compared by the server that it names.
    """
    free = {"max_cost", "max_calls", "concurrency", "base_url", "timeout_s"}
    free |= set() if settings.asks_models else {"host"}
    changes = [
        f"{_option(field_.name)} is {_shown(new)}, and the run has {_shown(old)}"
        for field_ in fields(RunSettings)
        if field_.name not in free
        and (new := getattr(settings, field_.name)) != (old := getattr(before, field_.name))
    ]
    if changes:
        raise InvalidInput(
            f"run {options.resume} can only be resumed with its own settings: {'; '.join(changes)};"
            " to start a new run, leave out --resume"
        )


def _check_same_cases(start: Mapping[str, Any], work: LayerWork) -> None:
    """Raise InvalidInput where a resume would replace the results by those of other cases."""
    digest = start.get("dataset_sha256")  # earlier releases did not store it
    if isinstance(digest, str) and digest != work.dataset_sha256:
        raise InvalidInput(
            f"the cases are not those that run {start['run_id']} began with; to start a new run,"
            " leave out --resume: what is the same in both is not paid for again"
        )


def _option(name: str) -> str:
    if name == "host":
        return "the server (--base-url)"
    if name == "timeout_s":
        return "--timeout"
    return f"--{name.replace('_', '-')}"


def _shown(value: object) -> str:
    return "none" if value in (None, "") else shorten(clean_line(str(value)), 200)


def new_run_id(options: EvalOptions) -> str:
    """Return the name of a run; a resumed run keeps its own.

    It is the time to the second, the microsecond in hexadecimal, and random digits: of two runs
    that began within one second, the later one has the later name.
    """
    if options.resume is not None and not options.replay:
        return options.resume
    now = datetime.now(UTC)
    return f"{now:%Y%m%dT%H%M%SZ}-{now.microsecond:05x}{secrets.token_hex(1)}"
