"""Searching remotes: how often they are asked, in how many trips, and what the search itself costs.

The stand-in is skills.sh and GitHub on loopback. Cold: nothing is kept, every answer takes 100 ms,
and the trips in sequence are the longest chain of requests of which each came after the one before
it was answered; wall time is shown beside it. Warm: the same question again; the peer is the
ranking alone over the same skills, and both are timed inside a loop that runs, as that of any
program that searches.
"""

from __future__ import annotations

import asyncio
import gc
import re
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.corpus import skill_md
from benchmarks.limits import Bound, Row, RunSettings, command, from_options
from benchmarks.measure import Figure, Options, Sample, against
from benchmarks.synthetic import chosen

if TYPE_CHECKING:
    from skillyard.install.search import SearchService
    from skillyard.install.sources.settings import Settings
    from skillyard_testkit import FakeServers, Request, Response

SUMMARY = "searches over skills.sh and five repositories: requests, trips, and the cost when warm"
ROUNDS = 5
WARM_ROUNDS = 9
WARM_CALLS = 5
LIMIT = 10
LATENCY_S = 0.1
TRIPS = 4.0
REPOSITORIES = 5
SKILLS = 2 * LIMIT
"""As many as each source is asked for: all of them are found, fetched and ranked."""
REFERENCES = 2
OTHER_FILES = 200
"""In each repository beside its skills; a search lists them too."""
MANY_FILES = 4_000
WORD = "yard"
"""What is looked for; every skill has it in its name."""
QUERY = f"{WORD} plan"
TREE = re.compile(r"/repos/([^/]+/[^/]+)/git/trees/")


class Case(NamedTuple):
    """One arrangement of the remotes."""

    name: str
    enabled: tuple[str, ...]
    snapshots: bool = True
    """Whether the marketplace gives a skill's files; else they are in the repository alone."""
    references: bool = False
    apart: bool = False
    """True where the repositories hold as many other skills as the marketplace lists."""
    files: int = OTHER_FILES


BOTH = ("skills.sh", "github")
COLD = (
    Case("marketplace", ("skills.sh",)),
    Case("marketplace without snapshots", ("skills.sh",), snapshots=False),
    Case("five repositories", ("github",)),
    Case("both", BOTH),
    Case("both, no snapshots, references", BOTH, snapshots=False, references=True),
    Case("both, no snapshots, other skills in each", BOTH, snapshots=False, apart=True),
)
WARM = (
    Case("both", BOTH),
    Case("both, no snapshots", BOTH, snapshots=False),
    Case(f"both, no snapshots, {MANY_FILES:,} files each", BOTH, snapshots=False, files=MANY_FILES),
)


def run(options: Options) -> Iterator[Row]:
    """Yield the figures for ``python -m benchmarks``."""
    yield from measured(from_options(options))


def measured(settings: RunSettings) -> Iterator[Row]:
    """Yield the figures of cold and warm searches."""
    what, skills = chosen(settings.shared, 2 * SKILLS)
    yield Figure("what is searched", f"{SKILLS} {what} in {REPOSITORIES} repositories")
    rounds = 1 if settings.quick else settings.rounds or ROUNDS
    for case in COLD:
        yield from _cold(case, skills, rounds)
    warm = WARM[:2] if settings.quick else WARM
    for case in warm:
        yield from _warm(case, skills, 3 if settings.quick else settings.rounds or WARM_ROUNDS)


class Passed(NamedTuple):
    """One request to a fake server."""

    server: str
    target: str
    start: float
    end: float


class Log:
    """When each request came and was answered: the wait lies before the answer is made."""

    def __init__(self) -> None:
        self.passed: list[Passed] = []

    def note(self, site: Any, request: Request) -> Response:
        """Return the regular response, and log it. Called when the latency has passed."""
        response: Response = site.respond(request)
        end = time.perf_counter()
        start = end - site.switches.latency_s
        self.passed.append(Passed(site.name, request.target, start, end))
        return response

    def repeated(self) -> int:
        """Return how many requests were made more than once."""
        times = Counter((each.server, each.target) for each in self.passed)
        return sum(count - 1 for count in times.values())

    def trees(self) -> int:
        """Return the most requests for the tree of one repository."""
        matches = (TREE.match(each.target) for each in self.passed)
        return max(Counter(match[1] for match in matches if match).values(), default=0)

    def chain(self) -> int:
        """Return the longest chain in which each request came after the last was answered."""
        length, free = 0, float("-inf")
        for each in sorted(self.passed, key=lambda each: each.end):
            if each.start >= free:
                length, free = length + 1, each.end
        return length


@contextmanager
def fake_servers(case: Case, skills: Sequence[dict[str, Any]]) -> Iterator[FakeServers]:
    """Give fake servers that hold the skills of a case."""
    from skillyard_testkit import FakeServers

    with FakeServers() as up:
        up.switches.downloads = case.snapshots
        up.switches.rate_limits.clear()  # rounds follow one another faster than any quota allows
        files: dict[str, dict[str, str]] = {name: {} for name in _repositories()}
        for number, record in enumerate(skills[: SKILLS * (2 if case.apart else 1)]):
            name = _repositories()[number % REPOSITORIES]
            slug = f"{WORD}-{record['name']}"[:60].rstrip("-") + f"-{number}"
            files[name][f"skills/{slug}/SKILL.md"] = skill_md({**record, "name": slug})
            for page in range(REFERENCES):
                files[name][f"skills/{slug}/references/{page}.md"] = record["text"][:2_000]
            if number < SKILLS:
                up.list_skill(name, slug, installs=1_000 - number)
        for name, held in files.items():
            held |= {f"src/module_{n:05}/file.py": f"{n}\n" for n in range(case.files)}
            up.add_repository(name, held)
        yield up


def _repositories() -> list[str]:
    return [f"owner-{number}/skills" for number in range(REPOSITORIES)]


def _settings(up: FakeServers, case: Case) -> Settings:
    from skillyard.install.sources.settings import Settings

    return Settings(
        enabled=case.enabled,
        skills_sh_url=up.skills_sh,
        github_api_url=up.github_api,
        github_raw_url=up.github_raw,
        repositories=tuple(_repositories()),
        shipped_registry=False,
    )


@contextmanager
def _service(up: FakeServers, case: Case, cache: Any) -> Iterator[tuple[SearchService, Any]]:
    """Give a search service that is open, and the loop that it lives on."""
    from skillyard.install.search import SearchService

    with asyncio.Runner() as loop:

        async def opened() -> SearchService:
            service = SearchService(settings=_settings(up, case), cache=cache)
            return await service.__aenter__()

        service = loop.run(opened())
        try:
            yield service, loop
        finally:
            loop.run(service.__aexit__(None, None, None))


def _cold(case: Case, skills: Sequence[dict[str, Any]], rounds: int) -> Iterator[Row]:
    from skillyard.install.sources.responses import ResponseCache

    walls, processor, logs = [], [], []
    counts = ""
    with fake_servers(case, skills) as up:
        for number in range(rounds + 1):
            log = Log()
            up.faults.clear()
            up.faults.add("*", "*", log.note, times=None)
            up.switches.latency_s = LATENCY_S if number else 0.0  # the first loads the modules
            with (
                tempfile.TemporaryDirectory() as folder,
                _service(up, case, ResponseCache(folder)) as (service, loop),
            ):
                start, before = time.perf_counter(), time.process_time()
                result = loop.run(service.search(QUERY, LIMIT, True, case.references))
                wall, cpu = time.perf_counter() - start, time.process_time() - before
            if result.count != LIMIT or result.partial:
                raise RuntimeError(f"{case.name}: {result.count} skills, {result.sources}")
            counts = f"{result.considered} skills found, {len(log.passed)} requests"
            if number:
                walls.append(wall)
                processor.append(cpu)
                logs.append(log)
    yield Bound(
        f"cold, {case.name}: trips in sequence",
        min(log.chain() for log in logs),
        TRIPS,
        "trips",
        f"{counts}; {min(walls) / LATENCY_S:.2f} latencies of wall time at best,"
        f" {median(walls) / LATENCY_S:.2f} median, of which"
        f" {min(processor) / LATENCY_S:.2f} processor, the stand-in's included",
    )
    yield Bound(
        f"cold, {case.name}: tree requests of one repository", max(log.trees() for log in logs), 1
    )
    yield Bound(f"cold, {case.name}: requests repeated", max(log.repeated() for log in logs), 0)


def _warm(case: Case, skills: Sequence[dict[str, Any]], rounds: int) -> Iterator[Row]:
    from skillyard.install.sources.responses import ResponseCache

    with fake_servers(case, skills) as up, tempfile.TemporaryDirectory() as folder:
        caches = {"the cache on disk": ResponseCache(folder), "a cache in memory": False}
        for where, cache in caches.items():
            with _service(up, case, cache) as (service, loop):
                first = loop.run(service.search(QUERY, LIMIT))
                before = len(up.requests)
                everything = loop.run(service.search(QUERY, SKILLS)).skills
                if len(everything) != first.considered:
                    raise RuntimeError(f"{case.name}: not every skill that was found is ranked")
                alone = _ranking(service, [each.skill for each in everything])
                jobs = {"ours": _search(service), "peer": alone}
                samples = loop.run(_take_turns(jobs, rounds))
                if where == "the cache on disk" and len(up.requests) - before > 1:
                    raise RuntimeError(f"{case.name}: a warm search asked remotes")
            yield against(
                f"warm, {case.name}: {where}",
                (f"search, {first.considered} skills found", samples["ours"]),
                (f"{service.ranker.name} alone, over the same skills", samples["peer"]),
            )


Job = Callable[[], Awaitable[object]]


def _search(service: SearchService) -> Job:
    async def search() -> object:
        return await service.search(QUERY, LIMIT)

    return search


def _ranking(service: SearchService, skills: Sequence[Any]) -> Job:
    """Return the ranking of skills that are there: bound, scored, put in order."""
    from skillyard.engine.ranking.match import eligible, in_order, score_query
    from skillyard.engine.ranking.query import Query

    query = Query(QUERY)

    async def rank() -> object:
        _, scored = score_query(skills, query, service.ranker)
        return in_order(eligible(skills, query, zeros=True, scored=scored), scored)

    return rank


async def _take_turns(jobs: Mapping[str, Job], rounds: int) -> dict[str, list[Sample]]:
    """Return what ``measure.take_turns`` does, without what entering and leaving a loop takes."""
    samples: dict[str, list[Sample]] = {name: [] for name in jobs}
    for number in range(rounds + 1):
        samples_by_job: dict[str, list[Sample]] = {name: [] for name in jobs}
        for _ in range(WARM_CALLS):
            for name, job in jobs.items():
                gc.collect()
                samples_by_job[name].append(await _timed(job))
        for name, each in samples_by_job.items():
            if number:  # the first round warms up
                samples[name].append(Sample(*map(mean, zip(*each, strict=True))))
    return samples


async def _timed(job: Job) -> Sample:
    wall, cpu = time.perf_counter(), time.process_time()
    result = await job()
    sample = Sample(time.process_time() - cpu, time.perf_counter() - wall)
    del result
    return sample


def main(arguments: Sequence[str] | None = None) -> int:
    """Run this benchmark alone."""
    return command(Path(__file__).stem, SUMMARY, measured, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
