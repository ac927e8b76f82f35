"""One query over 10,000 bound skills, against one pass of plain set intersections.

Ours: ``bound.prepare(query)``, its ``scores()``, and the best ten in their total order (what
``rank`` does once a scorer is bound; no explanation is worked out). The peer: one pass of
``len(set(tokens) & terms)`` in plain Python over the same skills, each kept as the list of the
words of its name, description and tags; ``terms`` are the same 26 words. The contestants take
turns prompt by prompt; a round is every prompt once, and its ratio is of the sums.

The corpus declares neither trigger phrases nor file patterns, so every skill is given three
phrases from its own description, and every second one or two file patterns of common shapes.
What is alive after binding is frozen out of the garbage collector's sight, for all contestants.
"""

from __future__ import annotations

import gc
import json
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpus import corpus_file, records
from benchmarks.measure import (
    Figure,
    Options,
    Skipped,
    against,
    current_memory_mb,
    duration,
    take_turns,
)

SUMMARY = "a 26-term prompt over 10,000 bound skills, against one pass of set intersections"
ROUNDS = 5
TERMS = 26
PROMPTS = 24
PATHS = 20
TOP = 10
SEED = 20
TARGETS = {"confidence": 1.0, "overlap": 5.0, "triggers": 5.0, "relevance": 5.0}
PATHS_TARGET = 4.0

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Return the peer's tokens: runs of letters and digits, lower-cased."""
    return _WORD.findall(text.lower())


class Library(NamedTuple):
    """The skills, and the same skills as the peer holds them."""

    catalog: Any
    metadata: list[list[str]]
    everything: list[list[str]]


def run(options: Options) -> Iterator[Figure]:
    queries = options.shared / "bench" / "dev_queries.jsonl"
    for needed in (corpus_file(options.shared), queries):
        if not needed.is_file():
            raise Skipped(f"{needed} is absent")
    rounds = options.rounds or ROUNDS
    library = _library(options.shared)
    bound = {}
    for name in TARGETS:
        bound[name], figure = _bind(library.catalog, name)
        yield figure
    gc.collect()
    gc.freeze()
    try:
        prompts = _prompts(queries)
        yield from _texts(library, bound, prompts, rounds)
        yield from _paths(bound["confidence"], prompts, rounds)
    finally:
        gc.unfreeze()


def _library(shared: Path) -> Library:
    from skillyard.engine.catalog import Catalog

    catalog = Catalog.from_skills(
        _skill(record, number) for number, record in enumerate(records(shared))
    )
    metadata = [words(" ".join([s.name, s.description, *s.tags])) for s in catalog]
    everything = [held + words(s.body or "") for held, s in zip(metadata, catalog, strict=True)]
    return Library(catalog, metadata, everything)


def _skill(record: dict[str, Any], number: int) -> Any:
    from skillyard.engine.skill import Skill, Triggers

    skill = Skill(
        name=record["name"],
        description=record["description"],
        body=record["text"],
        path=f"{record['id']}/SKILL.md",
        slug=record["id"].rpartition("/")[2],
        tags=tuple(record.get("tags", ())),
    )
    terms = words(skill.description)
    starts = range(0, min(len(terms), 12), 4)
    phrases = tuple(" ".join(terms[start : start + 2]) for start in starts)
    return skill.replace(triggers=Triggers(_patterns(number), (), phrases))


_ENDINGS = ("py", "ts", "tsx", "go", "rs", "md", "json", "yaml", "sql", "css", "html", "java", "sh")


def _patterns(number: int) -> tuple[str, ...]:
    """Return one or two patterns for every second skill, in shapes that authors write."""
    ending = _ENDINGS[number * 7 % len(_ENDINGS)]
    shapes = (
        (f"*.{ending}",),
        (f"*.test.{ending}", f"*.spec.{ending}"),
        (f"src/module{number % 500}/**", f"**/*.{ending}"),
        (f"config{number % 700}.json", "Dockerfile"),
        (f"{{src,lib}}/**/*.{ending}", "!*.min.js"),
    )
    return shapes[number // 2 % len(shapes)] if number % 2 else ()


def _prompts(queries: Path) -> list[str]:
    """Return prompts of 26 distinct words: long queries first, then runs of the short ones."""
    texts = [json.loads(line)["query"] for line in queries.read_text("utf-8").splitlines()]
    texts.sort(key=lambda text: -len(set(words(text))))
    long = [text for text in texts if len(set(words(text))) >= TERMS]
    short = texts[len(long) :]
    random.Random(SEED).shuffle(short)
    prompts = [" ".join(list(dict.fromkeys(words(text)))[:TERMS]) for text in long]
    flow = iter(dict.fromkeys(word for text in short for word in words(text)))
    while len(prompts) < PROMPTS:
        prompts.append(" ".join(word for word, _ in zip(flow, range(TERMS), strict=False)))
    return [prompt for prompt in prompts[:PROMPTS] if len(prompt.split()) == TERMS]


def _bind(catalog: Any, name: str) -> tuple[Any, Figure]:
    from skillyard.engine.ranking.registry import resolve

    gc.collect()
    before = current_memory_mb()
    start = time.process_time()
    bound = resolve(name).bind(catalog)
    took = time.process_time() - start
    after = current_memory_mb()
    grown = "" if before is None or after is None else f", {after - before:.0f} MB more held"
    return bound, Figure(f"bind {name}", f"{duration(took)} once a snapshot{grown}")


def _ask(bound: Any, query: Any) -> Callable[[], object]:
    from skillyard.engine.ranking.match import in_order

    def ask() -> object:
        scored = bound.prepare(query)
        return in_order(scored.scores(), scored, TOP)

    return ask


def _pass(token_lists: Sequence[list[str]], prompt: str) -> Callable[[], object]:
    terms = set(prompt.split())
    return lambda: [len(set(tokens) & terms) for tokens in token_lists]


def _texts(
    library: Library, bound: dict[str, Any], prompts: list[str], rounds: int
) -> Iterator[Figure]:
    from skillyard.engine.ranking.query import Query

    metadata, everything = "the pass over name, description, tags", "the pass, bodies too"
    contestants = {
        metadata: [_pass(library.metadata, prompt) for prompt in prompts],
        **{name: [_ask(bound[name], Query(prompt)) for prompt in prompts] for name in bound},
    }
    samples = take_turns(contestants, rounds)
    mean = sum(map(len, library.metadata)) / len(library.metadata)
    for name in bound:
        yield against(
            f"{name}, {TERMS} terms",
            ("prepare, scores, top 10 in order", samples[name]),
            (f"{metadata}; {mean:.0f} words a skill", samples[metadata]),
            TARGETS[name],
        )
    few = prompts[:: len(prompts) // 3]
    wide = take_turns(
        {
            everything: [_pass(library.everything, prompt) for prompt in few],
            **{name: [_ask(bound[name], Query(prompt)) for prompt in few] for name in bound},
        },
        rounds,
    )
    for name in bound:
        yield against(
            f"{name}, {TERMS} terms, bodies in the pass",
            ("prepare, scores, top 10 in order", wide[name]),
            (everything, wide[everything]),
        )


def _paths(confidence: Any, prompts: list[str], rounds: int) -> Iterator[Figure]:
    from skillyard.engine.ranking.query import Query

    lists = [_some_paths(random.Random(SEED + number)) for number in range(len(prompts))]
    for label, texts in (("no text", [""] * len(prompts)), (f"{TERMS} terms", prompts)):
        samples = take_turns(
            {
                number: [
                    _ask(confidence, Query(text, paths[: int(number)]))
                    for text, paths in zip(texts, lists, strict=True)
                ]
                for number in ("1", str(PATHS))
            },
            rounds,
        )
        yield against(
            f"confidence, {PATHS} paths against 1, {label}",
            (f"{PATHS} paths", samples[str(PATHS)]),
            ("1 path", samples["1"]),
            PATHS_TARGET,
        )


def _some_paths(random_source: random.Random) -> tuple[str, ...]:
    def path() -> str:
        top = random_source.choice(("src", "lib", "docs", "app"))
        name = random_source.choice("abcdef") + random_source.choice(("", ".test", ".spec"))
        module = random_source.randrange(500)
        return f"{top}/module{module}/{name}.{random_source.choice(_ENDINGS)}"

    return tuple(path() for _ in range(PATHS))
