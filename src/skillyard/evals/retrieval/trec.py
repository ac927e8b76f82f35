"""Runs as files, ours and TREC's (``query Q0 document rank score tag``), and TREC's qrels.

Blanks in ids are percent-encoded (``%20``), because blanks separate the columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import inf, isfinite
from typing import Any
from urllib.parse import quote, unquote

from skillyard.base.errors import InvalidInput
from skillyard.evals.retrieval.measures import DEPTH, RankedAnswer, read_text


def _encode(key: str) -> str:
    return "".join(quote(char) if char.isspace() or char == "%" else char for char in key)


def run_text(run: Mapping[str, Mapping[str, Any]], tag: str) -> str:
    """Return a run in TREC's format; queries without results have no line."""
    lines = [
        f"{_encode(query)} Q0 {_encode(key)} {rank} {score!r} {_encode(tag)}"
        for query, entry in run.items()
        for rank, (key, score) in enumerate(entry["results"], 1)
    ]
    return "".join(f"{line}\n" for line in lines)


def parse_run(text: str, path: str) -> dict[str, RankedAnswer]:
    """Return the run in a text, by score, then rank. Raises InvalidInput with the line."""
    rows: dict[str, list[tuple[float, int, str]]] = {}
    for where, columns in _lines(text, path):
        try:
            query, _, key, rank, score, _ = columns
            rows.setdefault(unquote(query), []).append((-float(score), int(rank), unquote(key)))
        except ValueError:
            raise InvalidInput(
                f"{where}: a line of a TREC run has six columns: query Q0 id rank score tag"
            ) from None
        if not isfinite(float(score)):
            raise InvalidInput(f"{where}: the score is not a number")
    return {
        query: RankedAnswer(
            tuple(dict.fromkeys(key for _, _, key in sorted(pairs)))[:DEPTH], -min(pairs)[0]
        )
        for query, pairs in rows.items()
    }


def read_run(path: str) -> dict[str, RankedAnswer]:
    """Read a run file, ours (JSON) or TREC's. Raises SkillIoError, and InvalidInput."""
    text = read_text(path)
    if text.strip() and text.lstrip()[0] not in '{["':
        return parse_run(text, path)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{path}: not JSON") from None
    if not isinstance(value, dict):
        raise InvalidInput(f"{path}: a run maps query ids to results")
    return {key: _ranked_answer(entry, f"{path}: {key}") for key, entry in value.items()}


def _ranked_answer(entry: Any, where: str) -> RankedAnswer:
    confidence = entry.get("confidence") if isinstance(entry, dict) else None
    results: Any = entry.get("results") if isinstance(entry, dict) else entry
    try:
        pairs = [(str(key), float(score)) for key, score in results]
        sure = float(confidence if confidence is not None else pairs[0][1] if pairs else -inf)
    except (TypeError, ValueError):
        raise InvalidInput(f"{where}: results must be pairs of skill id and score") from None
    ids = tuple(dict.fromkeys(key for key, _ in pairs))[:DEPTH]
    return RankedAnswer(ids, sure if ids else -inf)


def parse_qrels(text: str, path: str) -> dict[str, dict[str, int]]:
    """Return grades by query and id. Raises InvalidInput with the line."""
    grades: dict[str, dict[str, int]] = {}
    for where, columns in _lines(text, path):
        try:
            query, _, key, grade = columns
            grades.setdefault(unquote(query), {})[unquote(key)] = max(0, int(grade))
        except ValueError:
            raise InvalidInput(
                f"{where}: a line of qrels has four columns: query 0 id grade"
            ) from None
    return grades


def _lines(text: str, path: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the place and the columns of each line that is not blank."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{path}:{number}", line.split()
