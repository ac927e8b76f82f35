"""What ``hybrid`` chooses for labelled requests, by kind: right, wrong, none, and false fires.

Three sources. ``collections.tsv``: requests for seven public repositories that the shared corpus
does not hold, labelled by the author and by a second reader before the first run; nothing may be
chosen or trained on them. The repositories are read from ``SKILLYARD_COLLECTIONS``, a folder with
``owner+name`` for each. ``kinds``: requests of one kind for the skills of its ``library.tsv``;
every third is held out, no rule was made from it. ``examples``: the requests that ship with the
package, whose skills were looked at while ``hybrid`` was made.

Each scorer has a process of its own, so that each has its own peak of memory.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from multiprocessing import get_context
from operator import attrgetter
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.measure import Figure, peak_memory_mb

if TYPE_CHECKING:
    from skillyard.engine.catalog.snapshot import Catalog
    from skillyard.engine.skill import Skill

REPOSITORY = Path(__file__).resolve().parents[1]
EXAMPLES = REPOSITORY / "examples"
RANKING = REPOSITORY / "tests" / "engine" / "ranking"
VARIABLE = "SKILLYARD_COLLECTIONS"
ROWS = {
    "plain": "plain",
    "long": "long",
    "other": "another language",
    "forbidden": "forbids something",
    "near": "near miss",
    "far": "small talk, far off",
    "manual": "fits a skill that only its user calls",
    "quoted_phrases": "a quoted phrase",
    "excluded_by_skill": "what a skill excludes",
    "logs": "logs and code",
    "words": "names and plain words",
    "about_skills": "about skills",
    "examples": "`examples/`",
    "set_aside": "sets something aside, `examples/`",
    "talk": "asks for no work, `examples/`",
}
"""The kinds of requests, and how the table calls them; the first seven are of the collections."""
KINDS = tuple(ROWS)[7:-3]
HELD_OUT = 3
"""Every third request of these kinds is held out."""
BINS = 10
DRAWS = 1_000
ABSENT = "not here"
ALL, PUBLIC = "all requests", "the public collections"
SEED = 35


class Labelled(NamedTuple):
    """A request, with the names of the skills that are right for it as :func:`slug` writes them."""

    library: str
    """``kinds``, ``examples``, or a public repository."""
    text: str
    right: frozenset[str]
    """Empty where nothing fits."""
    is_optional: bool = False
    """True when abstaining is right too."""
    forbidden: str = "-"
    """A skill that must not be chosen."""
    groups: tuple[str, ...] = ()
    """What it is counted with: its row of the table, and others."""

    def outcome(self, name: str) -> str:
        """Return what a choice is: right, wrong, abstained; where nothing fits, fires or rests."""
        if not self.right:
            return "fires" if name else "rests"
        if not name:
            return "right" if self.is_optional else "abstained"
        return "right" if slug(name) in self.right else "wrong"

    def among(self, library: Iterable[Skill]) -> Labelled:
        """Return the request as the library has it: what may not be chosen fits nothing.

        The readers saw names and descriptions, not that an author leaves a skill to its user
        (``disable-model-invocation``), and conventions (AGENTS.md), which are not for choosing.
        """
        from skillyard.engine.skill import CONVENTION_TAG

        manual_names = {slug(s.name) for s in library if s.hidden or CONVENTION_TAG in s.tags}
        if PUBLIC not in self.groups or not self.right or not self.right <= manual_names:
            return self
        groups = ROWS["manual"], *self.groups[1:]
        return self._replace(right=frozenset(), groups=groups)


class Choice(NamedTuple):
    """What a scorer made of a request."""

    request: Labelled
    name: str
    """The skill that is selected first; empty for none."""
    first: str
    """The first of the ranking."""
    score: float
    """Of the first of the ranking."""
    named: tuple[str, ...]
    """What the prompt hook names: what is selected and close to it, or what perhaps fits."""
    seconds: float
    """Processor time."""

    @property
    def outcome(self) -> str:
        """As :meth:`Labelled.outcome`."""
        return self.request.outcome(self.name)


def slug(name: str) -> str:
    """Return a name as the labels write it: ``Customer Reply`` is labelled ``customer-reply``."""
    return name.lower().replace(" ", "-")


def _slugs(*names: str) -> frozenset[str]:
    return frozenset(slug(name) for name in names if name != "-")


def _rows(path: Path) -> Iterator[list[str]]:
    """Yield the fields of each line, line feeds and backslashes written out."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            text = line.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")
            yield text.split("\t")


def of_collections() -> Iterator[Labelled]:
    """Yield the requests for public repositories on which both readers agree."""
    for repository, _, kind, text, author, reader, forbidden in _rows(RANKING / "collections.tsv"):
        both = author.split("|"), reader.split("|")
        if not set(both[0]).isdisjoint(both[1]):
            right = _slugs(*both[0], *both[1])
            groups = ROWS[kind], repository, PUBLIC, ALL
            yield Labelled(repository, text, right, False, forbidden, groups)


def of_kind(kind: str) -> Iterator[Labelled]:
    """Yield the requests of one of :data:`KINDS`."""
    for number, row in enumerate(_rows(RANKING / "kinds" / f"{kind}.tsv"), start=1):
        _, text, right, trap = row
        held_out = (f"{ROWS[kind]}, held out",) if number % HELD_OUT == 0 else ()
        name = right.rstrip("?")
        groups = ROWS[kind], *held_out, ALL
        yield Labelled("kinds", text, _slugs(name), name != right, trap, groups)


def of_examples(path: Path | None = None) -> Iterator[Labelled]:
    """Yield the requests of ``examples/``, or of another file of the same form."""
    groups = ROWS["examples"], ALL
    for row in _documents(path or EXAMPLES / "requests.jsonl"):
        yield Labelled("examples", row["request"], _slugs(*row["expect"]), groups=groups)
    if path is None:
        for file in sorted((EXAMPLES / "evals" / "datasets" / "activation").glob("*.jsonl")):
            if file.stem == "similar":  # pairs that are taken for each other, written in bulk
                continue
            for row in _documents(file):
                right = _slugs(*row["expected_skills"], *row.get("acceptable_skills", ()))
                yield Labelled("examples", row["user_prompt"], right, groups=groups)


def of_set_aside() -> Iterator[Labelled]:
    """Yield the requests to ``examples/`` that set aside what another skill does, or seem to."""
    groups = ROWS["set_aside"], ALL
    for _, _, text, right, excluded in _rows(RANKING / "exclusions_held_out.tsv"):
        yield Labelled("examples", text, _slugs(right), forbidden=excluded, groups=groups)


def of_talk() -> Iterator[Labelled]:
    """Yield messages to ``examples/`` that ask for no work: talk, common knowledge, sums."""
    for kind, text in _rows(REPOSITORY / "training" / "data" / "none_requests.tsv"):
        if kind == "none_far":
            yield Labelled("examples", text, frozenset(), groups=(ROWS["talk"],))


def _documents(path: Path) -> Iterator[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return (json.loads(line) for line in lines if line.strip())


def _folder(repository: str) -> Path:
    return Path(os.environ.get(VARIABLE) or os.devnull, repository.replace("/", "+"))


def _is_absent(library: str) -> bool:
    """Return True for a public repository that is not on this machine."""
    return "/" in library and not _folder(library).is_dir()


def load_library(name: str) -> Catalog:
    """Return the skills of a library."""
    import skillyard as sy

    if name == "kinds":
        rows = _rows(RANKING / "kinds" / "library.tsv")
        return sy.Catalog.from_skills([sy.Skill(*row) for row in rows])
    if name == "examples":
        return sy.load_catalog(EXAMPLES / "skills")
    return sy.load_catalog(_folder(name))


def choices(requests: Iterable[Labelled], scorer: str = "hybrid") -> Iterator[Choice]:
    """Yield what is chosen for the requests, library by library, of those that are here."""
    import skillyard as sy
    from skillyard.hosts.hook.choice import MAX_OFFERED

    for name, group in groupby(requests, attrgetter("library")):
        if _is_absent(name):
            continue
        library = load_library(name)
        sy.select(library, "which skill fits?", scorer=scorer)  # binds it, outside of any clock
        for request in (each.among(library) for each in group):
            start = process_time()
            chosen = sy.select(library, request.text, scorer=scorer)
            seconds = process_time() - start
            ranked = (*chosen.selected, *chosen.maybe, *chosen.rejected)[:1]
            first, score = (ranked[0].skill.name, ranked[0].score) if ranked else ("", 0.0)
            best = chosen.best.skill.name if chosen.best else ""
            near = (*chosen.selected[:1], *chosen.close, *chosen.maybe)[:MAX_OFFERED]
            named = tuple(match.skill.name for match in near)
            yield Choice(request, best, first, score, named, seconds)


class Result(NamedTuple):
    """What a scorer made of all requests."""

    scorer: str
    choices: list[Choice]
    megabytes: float
    """The most memory its process has held."""

    def of(self, group: str) -> list[Choice]:
        """Return the choices of a group."""
        return [choice for choice in self.choices if group in choice.request.groups]


def _requests() -> Iterator[Labelled]:
    yield from of_collections()
    for kind in KINDS:
        yield from of_kind(kind)
    yield from of_examples()
    yield from of_set_aside()
    yield from of_talk()


def _measured(scorer: str) -> Result:
    return Result(scorer, list(choices(_requests(), scorer)), peak_memory_mb())


def results() -> list[Result]:
    """Return the results of ``hybrid`` as it ships, with the encoder if installed; and without."""
    from skillyard.engine.ranking.registry import DEFAULT_SCORER, default_scorer

    measured = []
    for scorer in dict.fromkeys((default_scorer(), DEFAULT_SCORER)):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            measured.append(pool.submit(_measured, scorer).result())
    return measured


def figures() -> Iterator[Figure]:
    """Yield what ``python -m benchmarks quality`` prints of choices."""
    measured = results()
    every = list(_requests())
    for name in dict.fromkeys([*ROWS.values(), *(name for r in every for name in r.groups)]):
        if _is_absent_group(name):
            yield Figure(name, f"{ABSENT}: {VARIABLE} names no folder with all its repositories")
            continue
        for result in measured:
            yield Figure(f"{name}, {result.scorer}", "; ".join(_line(result.of(name))))
    for result in measured:
        yield Figure(f"cost, {result.scorer}", _cost(result))


def _is_absent_group(name: str) -> bool:
    group = PUBLIC if name == ROWS["manual"] else name
    return any(_is_absent(request.library) for request in _requests() if group in request.groups)


def table() -> Iterator[str]:
    """Yield the lines of README's table, and of what stands below it."""
    measured = results()
    names = [f"`{result.scorer}`" for result in measured]
    heads = [f"{name}: right / wrong / abstained" for name in names]
    heads = ["request", "fits", *heads, "none fits", *(f"{name} fires" for name in names)]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for name in ROWS.values():
        is_absent = _is_absent_group(name)
        shares = [_shares([] if is_absent else result.of(name)) for result in measured]
        fits, none = (ABSENT, ABSENT) if is_absent else (shares[0].fits, shares[0].none)
        cells = [name, fits, *(s.outcomes for s in shares), none, *(s.fires for s in shares)]
        yield f"| {' | '.join(cells)} |"
    for result in measured:
        yield f"\n`{result.scorer}`: {'; '.join(_below(result))}."


def _below(result: Result) -> Iterator[str]:
    errors = [
        f"{ABSENT if _is_absent_group(name) else _error_text(result.of(name))} over {name}"
        for name in (PUBLIC, ALL)
    ]
    yield f"calibration error {', '.join(errors)}"
    for name in (PUBLIC, ROWS["set_aside"]):
        if not _is_absent_group(name):
            yield f"{_forbidden_text(result.of(name))} over {name}"
    if not _is_absent_group(PUBLIC):
        yield f"{_named_text(result.of(PUBLIC))} over {PUBLIC}"
    yield _cost(result)


class _Shares(NamedTuple):
    """The outcomes of some requests as text, with 95 % intervals."""

    fits: str
    """How many requests a skill fits."""
    outcomes: str
    """Of these: right, wrong, abstained."""
    none: str
    """How many requests nothing fits."""
    fires: str
    """Of these."""


def _shares(part: Sequence[Choice]) -> _Shares:
    count = Counter(choice.outcome for choice in part)
    fits = count["right"] + count["wrong"] + count["abstained"]
    none = len(part) - fits
    outcomes = " / ".join(_share(count[key], fits) for key in ("right", "wrong", "abstained"))
    return _Shares(str(fits), outcomes if fits else "–", str(none), _share(count["fires"], none))


def _line(part: Sequence[Choice]) -> Iterator[str]:
    shares = _shares(part)
    if shares.fits != "0":
        first = sum(slug(choice.first) in choice.request.right for choice in part)
        yield f"of {shares.fits} right / wrong / abstained {shares.outcomes}, first {first}"
    if shares.none != "0":
        yield f"of {shares.none} that nothing fits {shares.fires} fire"
    if any(choice.request.forbidden != "-" for choice in part):
        yield _forbidden_text(part)
    yield f"calibration error {_error_text(part)}"


def _forbidden_text(part: Sequence[Choice]) -> str:
    named = [choice for choice in part if choice.request.forbidden != "-"]
    chosen = sum(choice.name == choice.request.forbidden for choice in named)
    return f"a skill that the labels forbid is chosen for {chosen} of {len(named)}"


def _named_text(part: Sequence[Choice]) -> str:
    fits = [choice for choice in part if choice.request.right]
    right = sum(not choice.request.right.isdisjoint(map(slug, choice.named)) for choice in fits)
    none = [bool(choice.named) for choice in part if not choice.request.right]
    return (
        f"the hook names the right skill, chosen or not, for {_share(right, len(fits))} of"
        f" {len(fits)}, and something for {_share(sum(none), len(none))} of {len(none)} that"
        " nothing fits"
    )


def _share(count: int, total: int) -> str:
    """Return a share with its 95 % interval."""
    from skillyard.base.sums import wilson

    if not total:
        return "–"
    low, high = wilson(count, total)
    return f"{_short(count / total)} [{_short(low)}, {_short(high)}]"


def _short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _error_text(part: Sequence[Choice]) -> str:
    """Return the calibration error of the best score over ten bins, with a bootstrap interval.

    Chance adds to it, and to every sample that the interval is made of: few requests look worse
    than they are.
    """
    pairs = [(c.score, slug(c.first) in c.request.right) for c in part]
    rng = random.Random(SEED)
    drawn = sorted(_error(rng.choices(pairs, k=len(pairs))) for _ in range(DRAWS))
    low, high = drawn[int(0.025 * DRAWS)], drawn[int(0.975 * DRAWS) - 1]
    return f"{_short(_error(pairs))} [{_short(low)}, {_short(high)}]"


def _error(pairs: Sequence[tuple[float, bool]]) -> float:
    gaps = [0.0] * BINS
    for score, is_right in pairs:
        gaps[min(int(score * BINS), BINS - 1)] += score - is_right
    return sum(map(abs, gaps)) / len(pairs)


def _cost(result: Result) -> str:
    spent = sorted(choice.seconds for choice in result.choices)
    middle, late = (spent[int(len(spent) * share)] * 1e3 for share in (0.5, 0.99))
    return (
        f"a choice takes p50 {middle:.1f} ms, p99 {late:.1f} ms of processor time; memory at most"
        f" {result.megabytes:.0f} MB"
    )
