"""Finds many phrases in a request with one pass over its words.

An Aho-Corasick automaton over words: the cost grows with the sum of the words of the request and
of the phrases, not with their product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

_ROOT = 0


class PhraseAutomaton:
    """The phrases of all skills, compiled. Immutable and thread-safe."""

    __slots__ = ("_ends", "_fail", "_next", "_unspaced")

    def __init__(
        self, declared: Sequence[tuple[int, tuple[str, ...]]], unspaced: Callable[[str], bool]
    ) -> None:
        """Take (skill number, words of a phrase). An empty phrase never matches.

        Phrases for which ``unspaced`` is True are matched inside words too.
        """
        self._next: list[dict[str, int]] = [{}]
        self._ends: list[list[tuple[int, tuple[str, ...]]]] = [[]]
        self._unspaced: list[tuple[int, tuple[str, ...], str]] = []
        for number, words in declared:
            joined = " ".join(words)
            if unspaced(joined):
                self._unspaced.append((number, words, joined))
            elif words:
                self._ends[self._node(words)].append((number, words))
        self._fail = self._fallbacks()

    def _node(self, words: tuple[str, ...]) -> int:
        node = _ROOT
        for word in words:
            below = self._next[node].get(word)
            if below is None:
                below = self._next[node][word] = len(self._next)
                self._next.append({})
                self._ends.append([])
            node = below
        return node

    def _fallbacks(self) -> list[int]:
        """Return for each node the node of its longest proper suffix that is in the tree."""
        fail = [_ROOT] * len(self._next)
        level = list(self._next[_ROOT].values())
        while level:
            deeper = []
            for node in level:
                for word, below in self._next[node].items():
                    suffix = fail[node]
                    while suffix and word not in self._next[suffix]:
                        suffix = fail[suffix]
                    fail[below] = self._next[suffix].get(word, _ROOT)
                    deeper.append(below)
            level = deeper
        return fail

    def hits(self, words: Sequence[str]) -> dict[int, list[tuple[str, ...]]]:
        """Return the phrases that occur as adjacent words, by skill, each once."""
        matches: dict[int, list[tuple[str, ...]]] = {}
        visited: set[int] = {_ROOT}  # the suffixes of a visited node are visited too
        node = _ROOT
        for word in words:
            while node and word not in self._next[node]:
                node = self._fail[node]
            node = self._next[node].get(word, _ROOT)
            suffix = node
            while suffix not in visited:
                visited.add(suffix)
                for number, phrase in self._ends[suffix]:
                    matches.setdefault(number, []).append(phrase)
                suffix = self._fail[suffix]
        if self._unspaced:
            text = " ".join(words)
            for number, phrase, joined in self._unspaced:
                if joined in text:
                    matches.setdefault(number, []).append(phrase)
        return matches
