"""Brace alternatives of a file pattern: ``*.{ts,tsx}`` stands for ``*.ts`` and ``*.tsx``."""

from __future__ import annotations


def expand_braces(pattern: str, cap: int) -> tuple[str, ...] | None:
    """Return the alternatives of a pattern, in order, without repeats; None for more than ``cap``.

    Groups nest. A group needs a comma: ``{a}``, an unclosed ``{`` and a lone ``}`` are ordinary
    text, as in a shell. The cap is checked during expansion, which bounds the memory.
    """
    if "{" not in pattern:
        return (pattern,)
    opens, closes, commas = _groups(pattern)
    waiting: list[tuple[list[str], list[str]]] = []
    alternatives: list[str] = []  # finished alternatives of the innermost group
    current = [""]
    start = 0
    for end, char in enumerate(pattern):
        if end not in opens and end not in closes and end not in commas:
            continue
        current = [text + pattern[start:end] for text in current]
        start = end + 1
        if char == "{":
            waiting.append((current, alternatives))
            current, alternatives = [""], []
            continue
        alternatives += current
        current = [""]
        if len(alternatives) > cap:
            return None
        if char == "}":
            before, outer = waiting.pop()
            if len(before) * len(alternatives) > cap:
                return None
            current = [head + tail for head in before for tail in alternatives]
            alternatives = outer
    return tuple(dict.fromkeys(text + pattern[start:] for text in current))


def _groups(pattern: str) -> tuple[set[int], set[int], set[int]]:
    """Return the positions of the opening and closing braces of groups, and of their commas."""
    opens: set[int] = set()
    closes: set[int] = set()
    commas: set[int] = set()
    open_at: list[tuple[int, list[int]]] = []
    for at, char in enumerate(pattern):
        if char == "{":
            open_at.append((at, []))
        elif char == "," and open_at:
            open_at[-1][1].append(at)
        elif char == "}" and open_at:
            start, inner = open_at.pop()
            if inner:
                opens.add(start)
                closes.add(at)
                commas.update(inner)
    return opens, closes, commas
