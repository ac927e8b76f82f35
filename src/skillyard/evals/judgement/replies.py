"""Extracts the first JSON object from a model's reply. Truncated objects are not completed.

Models put objects into prose and fences, and leave commas before closing brackets. This reader
accepts that (spec/evals.md §1.12). A truncated reply is rejected, since completing it would invent
scores.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from skillyard.base.arguments import check_arguments
from skillyard.base.io.strict_json import refuse_constant
from skillyard.evals.conditions.summaries import closes_fence, opening_fence

_BOM = "\ufeff"
# A string, closed or running to the end, or a brace. Possessive: every character is passed once.
_MARK = re.compile(r'[{}]|"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_STRING_OR_COMMA = re.compile(r'("(?:[^"\\]++|\\.)*+"?)|,(?=[ \t\r\n]*+[}\]])', re.DOTALL)
_OBJECT_START = re.compile(r'\{\s*+"')


@check_arguments
def extract_json(text: str) -> dict[str, Any] | None:
    """Return the first JSON object in a reply; None when there is none, or it is truncated.

    Tried in order: the whole text, each fenced block, then every ``{`` from left to right up to its
    closing brace. Each candidate is parsed strictly, then without the commas before closing
    brackets outside strings. If the whole text is JSON but not an object, the result is None.
    Linear in the text; raises nothing.
    """
    text = text.removeprefix(_BOM)
    whole = _parse(text)
    if whole is not None:
        return whole if isinstance(whole, dict) else None
    for block in _fenced(text):
        value = _parse(block)
        if isinstance(value, dict):
            return value
    return _scan(text)


def _parse(text: str) -> Any:
    """Return the value of a JSON text, read strictly, then without trailing commas; else None."""
    if not text.strip():
        return None
    for candidate in (text, _STRING_OR_COMMA.sub(lambda match: match[1] or "", text)):
        try:
            return json.loads(candidate, parse_constant=refuse_constant)
        except (ValueError, RecursionError):
            continue
    return None


def _fenced(text: str) -> Iterator[str]:
    """Yield the content of each fenced block; one that is never closed is left to the scan."""
    fence = ""
    block: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if not fence:
            fence, block = opening_fence(line), []
        elif closes_fence(line, fence):
            yield "\n".join(block)
            fence = ""
        else:
            block.append(line)


def _scan(text: str) -> dict[str, Any] | None:
    braces = _Braces(text)
    position = text.find("{")
    while position >= 0:
        end = braces.end(position)
        if end is None:
            if _OBJECT_START.match(text, position):
                return None  # an object that is cut off has swallowed the rest
            end = position + 1
        else:
            value = _parse(text[position:end])
            if isinstance(value, dict):
                return value
        position = text.find("{", end)
    return None


class _Braces:
    """The end positions of the objects of one text, each computed once.

    Scanning from a ``{`` starts outside any string, so two scans may disagree about what is inside
    a string. They agree from the first brace that both see outside a string. The end of that brace
    is stored, and no third scan passes it. So a text of only opening braces is scanned once.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: dict[int, int | None] = {}

    def end(self, start: int) -> int | None:
        """Return the position behind the brace that closes the one at ``start``; None without."""
        ends = self._ends
        if start in ends:
            return ends[start]
        opened = [start]
        position = start + 1
        while opened and (mark := _MARK.search(self._text, position)) is not None:
            place, position = mark.start(), mark.end()
            if mark[0] == "}":
                ends[opened.pop()] = position
            elif mark[0] == "{" and place not in ends:
                opened.append(place)
            elif mark[0] == "{":
                end = ends[place]
                if end is None:
                    break
                position = end
        ends.update(dict.fromkeys(opened))
        return ends[start]
