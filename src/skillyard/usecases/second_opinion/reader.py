"""Has a model read skills: the plan with its price, the requests within a budget, the findings."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from skillyard.errors import InvalidInput
from skillyard.evals.config_values import Cost
from skillyard.evals.layers.plan import PlanSession
from skillyard.evals.layers.runner import moment
from skillyard.evals.layers.scheduler import Job, run_jobs
from skillyard.evals.layers.session import Session
from skillyard.evals.models.calls import Calls, Counts
from skillyard.evals.models.factory import offline_model, open_model
from skillyard.evals.models.ledger import Ledger, require_prices
from skillyard.evals.models.prices import Price, PriceOf, price
from skillyard.evals.models.protocol import ModelFailed, Request
from skillyard.evals.models.servers import address_of, server_of
from skillyard.evals.storage.entries import GENERATIONS, Entries
from skillyard.io.user_folders import cache_folder
from skillyard.remote.install.accepted import Accepted
from skillyard.scanning import Finding
from skillyard.shapes.improvements import ImproveRequests
from skillyard.shapes.scans import ScanReader, UnreadPart
from skillyard.text import clean_line, plural
from skillyard.usecases.scan_units import ScanUnit
from skillyard.usecases.second_opinion.opinion import opinion_of
from skillyard.usecases.second_opinion.prompt import SkillText, parts_of, reader_request, texts_of
from skillyard.usecases.second_opinion.reply import ReaderReply, read_reply

__all__ = ["ReaderOptions", "read_skills"]

MAX_PARTS = 20
"""Requests for one skill: 2,000,000 characters."""
MAX_CONCURRENCY = 64
_ATTEMPT_S = 120.0
_CALL_S = 300.0
"""Over all attempts. A request is ten times as long as one of an evaluation."""
_SHELF = "skills"


@dataclass(frozen=True, slots=True)
class ReaderOptions:
    """The model that reads, and its limits. The key comes from the environment, as in ``eval``."""

    model: str
    provider: str = "anthropic"
    base_url: str | None = None
    max_cost: float | None = None
    """US dollars; None: the default of ``eval``."""
    max_calls: int | None = None
    concurrency: int = 4
    regenerate: bool = False
    """Request every answer again."""
    dry_run: bool = False
    """Only say what would be sent, and its price."""


class _Part(NamedTuple):
    unit: ScanUnit
    name: str
    """Says which part of which skill it is."""
    files: tuple[SkillText, ...]
    request: Request


class _Outcome(NamedTuple):
    replies: Sequence[ReaderReply | None]
    """One a part, None where the reading stopped before it."""
    stopped: str | None = None
    calls: int = 0
    cost: float = 0.0
    fake: bool = False


class _Parts(NamedTuple):
    parts: tuple[_Part, ...]
    skills: int
    files: int
    unread: tuple[UnreadPart, ...]
    """What no request has room for."""


def read_skills(
    units: Mapping[str, ScanUnit],
    accepted: Sequence[Accepted],
    options: ReaderOptions,
    *,
    stop: threading.Event | None = None,
    warn: Callable[[str], None] = lambda text: None,
) -> ScanReader:
    """Return what a model says about skills, by their real paths.

    ``warn`` is told what will be sent, where to, and the price, before anything is sent. A budget,
    an interrupt and a failing server end the reading early; what was not read is in the result.
    Answers are kept in the user's cache. Raises InvalidInput for options that cannot be, and where
    no price is known for a cap in dollars; ModelFailed for a missing key or library.
    """
    work = _work(units, options.model)
    server = server_of(options.provider, address_of(options.provider, options.base_url))
    plan = _plan(work, options, server)
    requests = ImproveRequests(**plan.planned(GENERATIONS))
    low, high = plan.cost(low=True), plan.cost(low=False)
    tokens = plan.input_tokens()
    _announce(options, server, requests, tokens, (low, high), warn)
    outcome = _Outcome([None] * len(work.parts))
    if work.parts and not options.dry_run:
        outcome = _ask(work, plan, options, stop or threading.Event(), warn)
    opinion = opinion_of(_findings(work, outcome.replies), accepted)
    return ScanReader(
        model=clean_line(options.model),
        provider=options.provider,
        host=server,
        dry_run=options.dry_run,
        skills=work.skills,
        files=work.files,
        requests=requests,
        input_tokens=tokens,
        cost_low=low,
        cost_high=high,
        calls=outcome.calls,
        cost=round(outcome.cost, 6),
        fake=outcome.fake,
        findings=opinion.findings,
        counts=opinion.counts,
        accepted=opinion.accepted,
        dropped=tuple(
            f"{part.name}: {why}"
            for part, reply in zip(work.parts, outcome.replies, strict=True)
            for why in (() if reply is None else reply.dropped)
        ),
        unread=(*work.unread, *(() if options.dry_run else _unread(work, outcome.replies))),
        stopped=outcome.stopped,
    )


def _plan(work: _Parts, options: ReaderOptions, server: str) -> PlanSession:
    """Return the requests to send, and those whose answers are in the cache."""
    price_of_model = _price(options)
    plan = PlanSession(
        offline_model(options.provider, server),
        Entries(_folder()),
        price_of=lambda _: price_of_model,
        fresh_generations=options.regenerate,
    )
    for part in work.parts:
        plan.generate(_SHELF, part.request, 0)
    return plan


def _folder() -> str:
    return os.path.join(cache_folder(), "reader")


def _ask(
    work: _Parts,
    plan: PlanSession,
    options: ReaderOptions,
    stop: threading.Event,
    warn: Callable[[str], None],
) -> _Outcome:
    """Ask for what is not in the cache, and read all replies. Without such a part needs no key."""
    replies: list[ReaderReply | None] = [None] * len(work.parts)
    with ExitStack() as at_end:
        calls = _calls(options, plan.price_of, stop, at_end) if plan.calls else None
        session = Session(
            plan.model if calls is None else calls,
            Entries(_folder(), warn),
            now=moment,
            price_of=plan.price_of,
            case=None if calls is None else calls.case,
            timeout_s=_ATTEMPT_S,
            offline=calls is None,
            fresh_generations=options.regenerate,
        )
        jobs = [Job(partial(_read, session, work, replies, n)) for n in range(len(replies))]
        why = run_jobs(jobs, options.concurrency, stop)
        counts = Counts() if calls is None else calls.counts
    stopped = None if why is None else clean_line(str(why))
    return _Outcome(replies, stopped, counts.attempts, counts.cost, session.counts.fake)


def _work(units: Mapping[str, ScanUnit], model: str) -> _Parts:
    folders = frozenset(real for real, unit in units.items() if unit.is_folder)
    parts: list[_Part] = []
    unread: list[UnreadPart] = []
    skills = files = 0
    for unit in units.values():
        texts = texts_of(unit.read(folders))
        slices = parts_of(texts)
        skills += bool(slices)
        files += len({each.file for part in slices[:MAX_PARTS] for each in part})
        path = clean_line(unit.path)
        for number, part in enumerate(slices[:MAX_PARTS], 1):
            name = path if len(slices) == 1 else f"{path} (part {number} of {len(slices)})"
            read = tuple(dict.fromkeys(each.file for each in part))
            parts.append(_Part(unit, name, read, reader_request(model, part)))
        if len(slices) > MAX_PARTS:
            first = slices[MAX_PARTS][0]
            why = f"it is too long; nothing from {first.file.path}:{first.line} on is sent"
            unread.append(UnreadPart(path=path, why=why))
    return _Parts(tuple(parts), skills, files, tuple(unread))


def _price(options: ReaderOptions) -> Price | None:
    if not options.model.strip():
        raise InvalidInput("no model is named: --reader takes the id of a model")
    if not 1 <= options.concurrency <= MAX_CONCURRENCY:
        raise InvalidInput(f"--concurrency must be 1 to {MAX_CONCURRENCY}")
    try:
        return price(options.provider, options.model)
    except ModelFailed:
        if options.dry_run:
            return None
        raise


def _announce(
    options: ReaderOptions,
    server: str,
    requests: ImproveRequests,
    tokens: int,
    costs: tuple[float | None, float | None],
    warn: Callable[[str], None],
) -> None:
    cached = f" ({plural(requests.kept, 'answer')} from the cache)" if requests.kept else ""
    if not requests.to_make:
        warn(f"reader {clean_line(options.model)}: nothing to send{cached}")
        return
    low, high = costs
    dollars = "price unknown" if low is None or high is None else f"${low:.4f} to ${high:.4f}"
    warn(
        f"reader {clean_line(options.model)}: {plural(requests.to_make, 'request')} to"
        f" {clean_line(server)}{cached}, about {tokens:,} tokens, {dollars}; they contain the files"
    )


def _calls(
    options: ReaderOptions, price_of: PriceOf, stop: threading.Event, at_end: ExitStack
) -> Calls:
    defaults = Cost()
    max_cost = defaults.max_cost_per_run if options.max_cost is None else options.max_cost
    max_calls = defaults.max_calls_per_run if options.max_calls is None else options.max_calls
    require_prices(max_cost, options.max_calls, {options.model: price_of(options.model)})
    ledger = Ledger(max_cost, max_calls)
    model = open_model(options.provider, base_url=options.base_url)
    at_end.callback(model.close)
    return Calls(model, ledger=ledger, prices=price_of, stop=stop, limit_s=_CALL_S)


def _read(session: Session, work: _Parts, replies: list[ReaderReply | None], number: int) -> None:
    """Read one part; its reply takes its place in the list. Raises RunStopped."""
    part = work.parts[number]
    answer = session.generate(_SHELF, part.request, 0)
    if answer.error:
        replies[number] = ReaderReply(fault=clean_line(answer.error))
    elif answer.truncated:
        replies[number] = ReaderReply(fault="the reply was cut off at its longest")
    else:
        replies[number] = read_reply(part.request.model, answer.text, part.files)


def _findings(work: _Parts, replies: Sequence[ReaderReply | None]) -> list[Finding]:
    return [
        each._replace(path=part.unit.shown(each.path))
        for part, reply in zip(work.parts, replies, strict=True)
        for each in (() if reply is None else reply.findings)
    ]


def _unread(work: _Parts, replies: Sequence[ReaderReply | None]) -> list[UnreadPart]:
    whys = ["the reader was stopped" if each is None else each.fault for each in replies]
    return [
        UnreadPart(path=part.name, why=why)
        for part, why in zip(work.parts, whys, strict=True)
        if why
    ]
