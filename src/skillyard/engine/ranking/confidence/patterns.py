"""The pattern signal: which skills declare file patterns that match the given files.

Sources: "Skill Evaluation System", "Pattern Matcher" and "Scoring Algorithm" ("weighted average of
matched pattern weights"), and the ruling on what that leaves open. With A the mean, over the
matched files, of the heaviest matching pattern's weight, and m matched files out of n:

    P = 0.6 · A + 0.4 · max(0.6, min(1, 2·m / n))

Distinct patterns are compiled once for all skills and indexed by a key that a matching path must
have: a file name, its prefix or suffix, or a folder. A path is compared only with the patterns
under its own keys. Sets of files are bit sets, so that many files cost little more than one.

The cost of a lookup is computed beforehand, in steps. Skills whose patterns exceed
:data:`MAX_STEPS_PER_SKILL` are left out, and so are the most expensive ones that exceed
:data:`MAX_STEPS` in total. The result names them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from skillyard.base.arguments import check_arguments, text_items
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.ranking.confidence.glob import (
    PATTERN_CLASSES,
    FilePath,
    Glob,
    GlobRoute,
    PatternClass,
    classify,
    compile_glob,
    split_path,
)
from skillyard.engine.ranking.confidence.records import (
    Candidates,
    MatchedPattern,
    PatternMatch,
    as_skills,
)
from skillyard.engine.skill import Skill

AVERAGE_SHARE = 0.6
COVERAGE_SHARE = 0.4
COVERAGE_FLOOR = 0.6
"""Lower bound for the factor of the matched share, so that unrelated files do not reduce the score
further."""

MAX_STEPS = 500_000
"""Steps of one lookup. A step visits a segment of a path, or compares one of its characters, in 0.4
microseconds at most. The limit covers 20 paths of five
segments against 1,000 patterns such as ``*config*``, which are compared with every path, or 200
paths against 100 such patterns."""
MAX_STEPS_PER_SKILL = 100_000
"""The same limit for the patterns of one skill."""

_RANK = {pattern_class.name: rank for rank, pattern_class in enumerate(PATTERN_CLASSES)}


def pattern_score(weights: float, matched: int, files: int) -> float:
    """Return P for the summed weights of ``matched`` files out of ``files``; 0..1."""
    coverage = max(COVERAGE_FLOOR, min(1.0, 2.0 * matched / files))
    return AVERAGE_SHARE * (weights / matched) + COVERAGE_SHARE * coverage


class _PatternSet(NamedTuple):
    """The patterns of one or more skills: glob numbers with the rank of their class."""

    positive: tuple[tuple[int, int], ...]
    negative: tuple[int, ...]
    members: list[int]
    """Positions of the skills that declare exactly this list."""

    def globs(self) -> list[int]:
        """Return the distinct numbers of its globs."""
        return list(dict.fromkeys([*(glob for glob, _ in self.positive), *self.negative]))


class PatternIndex:
    """An index of the file patterns of skills."""

    def __init__(
        self,
        declared: Iterable[tuple[str, tuple[str, ...]]],
        case_sensitive: bool = False,
    ) -> None:
        self.case_sensitive = case_sensitive
        self.globs: list[Glob] = []
        self.sets: list[_PatternSet] = []
        self.set_of: dict[int, int] = {}
        self.names: dict[int, str] = {}
        """Positions of the skills that declare patterns."""
        self.users: list[list[tuple[int, int]]] = []
        """For each glob, the pattern sets that contain it as a positive pattern, with the rank of
        its class."""
        numbers: dict[str, int] = {}
        known: dict[tuple[str, ...], int] = {}
        for position, (name, patterns) in enumerate(declared):
            if patterns:
                if patterns not in known:
                    counted = patterns[: DEFAULT_LIMITS.patterns_per_skill]
                    known[patterns] = self._add_set(counted, numbers)
                self.set_of[position] = known[patterns]
                self.sets[known[patterns]].members.append(position)
                self.names[position] = name
        self._buckets = _group_by_key(self.globs)

    def _add_set(self, patterns: tuple[str, ...], numbers: dict[str, int]) -> int:
        positive: dict[int, int] = {}
        negative: list[int] = []
        for pattern in patterns:
            if pattern not in numbers:
                numbers[pattern] = len(self.globs)
                self.globs.append(compile_glob(pattern, self.case_sensitive))
                self.users.append([])
            number = numbers[pattern]
            if self.globs[number].negated:
                negative.append(number)
            elif number not in positive:
                positive[number] = _RANK[classify(pattern).name]
                self.users[number].append((len(self.sets), positive[number]))
        self.sets.append(_PatternSet(tuple(positive.items()), tuple(negative), []))
        return len(self.sets) - 1

    def match(self, files: Iterable[str]) -> FileMatches:
        """Return the matches of these paths. Repeated and empty paths are ignored."""
        file_by_path: dict[FilePath, str] = {}
        for file in files:
            path = split_path(file, self.case_sensitive)
            if path.segments:
                file_by_path.setdefault(path, file)
        paths = tuple(file_by_path)
        paths_by_key = self._paths_by_key(paths)
        compared, left_out = self._within_budget(paths, paths_by_key)
        hits = self._hits(paths, paths_by_key, compared)
        return FileMatches(self, tuple(file_by_path.values()), hits, left_out)

    def _paths_by_key(self, paths: tuple[FilePath, ...]) -> dict[str, list[int]]:
        """Return the paths by lookup key, for the keys that are in the index."""
        paths_by_key: dict[str, list[int]] = {}
        for at, path in enumerate(paths):
            for key in ("", *path.lookup_keys()):
                if key in self._buckets:
                    paths_by_key.setdefault(key, []).append(at)
        return paths_by_key

    def _hits(
        self,
        paths: tuple[FilePath, ...],
        paths_by_key: dict[str, list[int]],
        compared: frozenset[int] | None,
    ) -> dict[int, int]:
        """Return the paths that each glob matches, as bits. ``compared`` limits the globs."""
        hits: dict[int, int] = {}
        for key, places in paths_by_key.items():
            for number, route in self._buckets[key]:
                if compared is None or number in compared:
                    for at in places:
                        if route.matches(paths[at]):
                            hits[number] = hits.get(number, 0) | 1 << at
        return hits

    def _within_budget(
        self, paths: tuple[FilePath, ...], paths_by_key: dict[str, list[int]]
    ) -> tuple[frozenset[int] | None, frozenset[int]]:
        """Return the globs to compare (None: all), and the pattern sets that are left out.

        The cheapest sets come first, ties in the order of the skills.
        """
        costs: dict[int, int] = {}
        for key, places in paths_by_key.items():
            segments = sum(len(paths[at].segments) for at in places)
            chars = sum(sum(map(len, paths[at].segments)) for at in places)
            for number, route in self._buckets[key]:
                costs[number] = costs.get(number, 0) + route.steps(segments, chars)
        if sum(costs.values()) <= MAX_STEPS_PER_SKILL:
            return None, frozenset()
        of_sets = [
            (sum(costs.get(glob, 0) for glob in patterns.globs()), number)
            for number, patterns in enumerate(self.sets)
        ]
        spent, compared, left_out = 0, set[int](), set[int]()
        for cost, number in sorted(of_sets):
            fresh = set(self.sets[number].globs()) - compared
            more = sum(costs.get(glob, 0) for glob in fresh)
            if cost <= MAX_STEPS_PER_SKILL and spent + more <= MAX_STEPS:
                spent += more
                compared |= fresh
            else:
                left_out.add(number)
        return frozenset(compared), frozenset(left_out)


def declared_by(skills: Iterable[Skill]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the name of each skill that declares file patterns, with the patterns."""
    return [(skill.name, skill.triggers.files) for skill in skills]


def _group_by_key(globs: Sequence[Glob]) -> dict[str, list[tuple[int, GlobRoute]]]:
    """Index each route under its key with the fewest routes; a route without keys under "".

    The rarest key keeps the lists short: ``/billing`` for ``src/billing/**/*.ts``.
    """
    routes = [(number, route) for number, glob in enumerate(globs) for route in glob.routes]
    keys = [route.lookup_keys() for _, route in routes]
    shared = Counter(key for each in keys for key in each)
    buckets: dict[str, list[tuple[int, GlobRoute]]] = {}
    for entry, each in zip(routes, keys, strict=True):
        key = min(each, key=lambda key: shared[key], default="")
        buckets.setdefault(key, []).append(entry)
    return buckets


class FileMatches:
    """The skills that match a list of files. ``scores`` maps a skill's position to P, 0..1."""

    def __init__(
        self,
        index: PatternIndex,
        files: tuple[str, ...],
        hits: dict[int, int],
        left_out: frozenset[int],
    ) -> None:
        self.files = files
        """The distinct paths, unchanged."""
        self._index = index
        self._hits = hits
        self._left_out = left_out
        self.scores: dict[int, float] = {}
        ranked_by_set: dict[int, list[tuple[int, int]]] = {}
        for glob, matched in hits.items():
            for number, rank in index.users[glob]:
                if number not in left_out:
                    ranked_by_set.setdefault(number, []).append((rank, matched))
        known: dict[tuple[int, tuple[tuple[int, int], ...]], float] = {}
        for number, ranked in ranked_by_set.items():
            patterns = index.sets[number]
            key = (self._excluded_files(patterns), tuple(ranked))
            if key not in known:
                known[key] = self._score(*key)
            score = known[key]
            if score:
                for position in patterns.members:
                    self.scores[position] = score

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of the skills whose patterns are more work than the limit."""
        members = (at for number in self._left_out for at in self._index.sets[number].members)
        return tuple(self._index.names[at] for at in sorted(members))

    def best_weight(self, position: int) -> float:
        """Return the weight of a skill's heaviest pattern that matches a file; 0.0 without any.

        A ``!pattern`` does not exclude files here.
        """
        number = self._index.set_of.get(position)
        if number is None or number in self._left_out:
            return 0.0
        ranks = [rank for glob, rank in self._index.sets[number].positive if glob in self._hits]
        return PATTERN_CLASSES[min(ranks)].weight if ranks else 0.0

    def _score(self, removed: int, ranked: Iterable[tuple[int, int]]) -> float:
        """Return P: each file counts with its heaviest class.

        ``ranked`` are (rank of a class, files as bits); ``removed`` are the excluded files.
        """
        by_rank = [0] * len(PATTERN_CLASSES)
        for rank, files in ranked:
            by_rank[rank] |= files
        weights, matched, counted = 0.0, 0, removed
        for pattern_class, files in zip(PATTERN_CLASSES, by_rank, strict=True):
            fresh = (files & ~counted).bit_count()
            weights += pattern_class.weight * fresh
            matched += fresh
            counted |= files
        return pattern_score(weights, matched, len(self.files)) if matched else 0.0

    def _excluded_files(self, patterns: _PatternSet) -> int:
        removed = 0
        for glob in patterns.negative:
            removed |= self._hits.get(glob, 0)
        return removed

    def matches_of(self, position: int) -> tuple[MatchedPattern, ...]:
        """Return each matched file of a skill with its heaviest pattern (the first one)."""
        number = self._index.set_of.get(position)
        if position not in self.scores or number is None:
            return ()
        patterns = self._index.sets[number]
        removed = self._excluded_files(patterns)
        best: dict[int, tuple[int, int]] = {}
        for glob, rank in patterns.positive:
            files = self._hits.get(glob, 0) & ~removed
            for at in range(len(self.files)):
                if files >> at & 1 and (at not in best or rank < best[at][0]):
                    best[at] = (rank, glob)
        return tuple(self._entry(at, *best[at]) for at in sorted(best))

    def _entry(self, at: int, rank: int, glob: int) -> MatchedPattern:
        pattern = self._index.globs[glob].pattern
        return MatchedPattern(pattern, self.files[at], PATTERN_CLASSES[rank].weight)


class PatternMatcher:
    """The document's ``PatternMatcher``: compares paths with file patterns."""

    def __init__(self, case_sensitive: bool = False) -> None:
        self.case_sensitive = case_sensitive

    @check_arguments
    def match_file_pattern(self, path: str, pattern: str) -> bool:
        """Say whether one path matches one pattern; False for a ``!pattern``.

        Raises InvalidInput when either is not a string.
        """
        glob = compile_glob(pattern, self.case_sensitive)
        return glob.matches(split_path(path, self.case_sensitive))

    @check_arguments
    def classify(self, pattern: str) -> PatternClass:
        """Return the class of a pattern as (name, weight)."""
        return classify(pattern)

    @check_arguments
    def match(self, files: Iterable[str], catalog: Candidates) -> list[PatternMatch]:
        """Return the skills with a matching file, highest confidence first, then by name."""
        candidates = as_skills(catalog)
        index = PatternIndex(declared_by(candidates), self.case_sensitive)
        file_matches = index.match(text_items("files", files))
        matches = [
            PatternMatch(candidates[at].name, score, file_matches.matches_of(at))
            for at, score in sorted(file_matches.scores.items())
        ]
        return sorted(matches, key=lambda match: (-match.confidence, match.skill_name))
