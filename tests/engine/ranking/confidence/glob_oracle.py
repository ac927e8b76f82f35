"""A second, slow reading of the glob rules: recursion over characters and over segments."""

from __future__ import annotations

from functools import cache

__all__ = ["slow_match"]


def slow_match(path: str, pattern: str) -> bool:
    """Compare by trying everything; patterns without braces and signs, in small letters."""
    anchored = pattern.startswith("/")
    parts = [part for part in pattern.split("/") if part]
    names = [name for name in path.split("/") if name]
    if pattern.endswith("/"):
        parts.append("**")
    if not parts or not names:
        return False
    starts = [0] if anchored else range(len(names))
    return any(_below(tuple(parts), tuple(names[start:])) for start in starts)


@cache
def _below(parts: tuple[str, ...], names: tuple[str, ...]) -> bool:
    if not parts:
        return not names
    if len(parts[0]) > 1 and set(parts[0]) == {"*"}:
        if len(parts) == 1:
            return bool(names)
        return any(_below(parts[1:], names[skip:]) for skip in range(len(names) + 1))
    return bool(names) and _segment(parts[0], names[0]) and _below(parts[1:], names[1:])


def _segment(part: str, name: str) -> bool:
    return _text(part, name, True) or ("[" in part and _text(part, name, False))


@cache
def _text(part: str, name: str, classes: bool) -> bool:
    if not part:
        return not name
    if part[0] == "*":
        return _text(part[1:], name, classes) or (bool(name) and _text(part, name[1:], classes))
    if not name:
        return False
    close = part.find("]", 3 if part[1:2] == "!" else 2)
    if classes and part[0] == "[" and close > 0:
        body = part[1:close]
        negated = body.startswith("!") and len(body) > 1
        inside = name[0] in (body[1:] if negated else body)
        return inside is not negated and _text(part[close + 1 :], name[1:], classes)
    return part[0] in ("?", name[0]) and _text(part[1:], name[1:], classes)
