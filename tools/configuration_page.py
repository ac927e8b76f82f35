"""The reference page of ``skillyard.toml``: every section and key, from their classes."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from typing import Any

from skillyard.base.configuration import SECTIONS, record_of
from skillyard.base.strict_toml import (
    USER_ONLY,
    Bounds,
    bounds_of,
    default_of,
    is_record,
    keys_of,
    notes_of,
    options_of,
    words_of,
)

_HEAD = """\
# Configuration

{generated}

One file, `skillyard.toml`, has a section for each part of skillyard. There are two of them:

- **Your own** is in your [configuration folder](platforms.md#where-files-lie). `SKILLYARD_CONFIG`
  names another one.
- **A project's** is the nearest at or above the working folder, up to the root of the repository. A
  stranger may have written it. So it has only the sections that affect the work in that project.
  Every other section in it ends the command with 2 and says where it belongs.

In brackets are the type of a value, its bounds and its default.

Options of the command line go before environment variables, these before the project's file, and
that before your own. Hooks and services read your own file alone. An unknown key or a wrong value
ends the command with 2 and names file, line and the nearest key. `skillyard doctor` checks both
files. The [policy](../guides/policy.md) and the lock file are files of their own.

```toml
[sources]
enabled = ["registry", "github"]
```

## Environment variables

- `SKILLYARD_CONFIG`: the path of your own file
- `SKILLYARD_CACHE`: the folder of indexes and remote answers
- `SKILLYARD_STATE`: the folder of approvals, feedback and notes on installed skills
- `SKILLYARD_OFFLINE`: `1`: answer from the cache only, `0`: ask, whatever `sources.offline` says
- `SKILLYARD_STORE`: the catalog store of the `store` commands
- `SKILLYARD_TOOLS`: `all` offers every [MCP tool](../guides/mcp.md)
- `SKILLYARD_HTTP_TOKEN`: the bearer token of a service, for it and its clients

Other programs' variables are read too: `GITHUB_TOKEN` and `GH_TOKEN`, the proxies, `NO_COLOR`, and
the keys of model providers.
"""


_KINDS = {
    "a text in quotes": "text",
    '"none"': "none",
    "a whole number": "number",
    "a number": "number",
    "true or false": "true/false",
    "a list of texts": "list",
    "a table": "table",
}
"""Types in a word; numbers without a fraction have none in their bounds either."""


def configuration_page(generated: str) -> Iterator[str]:
    """Yield the lines of the page."""
    yield _HEAD.replace("{generated}", generated)
    for name, section in SECTIONS.items():
        record = record_of(name)
        yield f"## [{name}]\n"
        whose = "" if section.of_project else " Your own file only."
        yield f"{_plain(inspect.getdoc(record) or '').splitlines()[0]}{whose}\n"
        yield from _rows(record, "")
        yield ""


def _rows(record: type[Any], above: str) -> Iterator[str]:
    effects = dict(_docstrings(record))
    for key, hint in keys_of(record).items():
        kinds = [kind for kind in options_of(hint) if kind is not type(None)]
        if is_record(kinds[0]):
            yield from _rows(kinds[0], f"{above}{key}.")
            continue
        bounds = [each for each in map(bounds_of, notes_of(hint)) if each is not None]
        default = _shown(default_of(record, key))
        value = " or ".join(map(_kind, options_of(hint)))
        value = ", ".join([value, *map(_range, bounds)])
        effect = effects.get(key, "")
        if USER_ONLY in notes_of(hint):
            effect = f"{effect} Your own file only."
        yield f"- `{above}{key}` ({value}{f'; {default}' if default else ''}) {effect}".rstrip()


def _kind(kind: Any) -> str:
    """Return a type in one word, or the words that may stand there."""
    words = words_of(kind)
    return _KINDS.get(words, words)


def _range(bounds: Bounds) -> str:
    """Return the bounds of a number; one without an upper bound is any larger number."""
    least = bounds.least if bounds.above is None else bounds.above
    return f"{least:g} and more" if bounds.most is None else f"{least:g} to {bounds.most:g}"


def _docstrings(record: type[Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the docstring of each field, as one line."""
    if record.__base__ not in (object, tuple, None):
        yield from _docstrings(record.__base__)
    body = ast.parse(inspect.getsource(record)).body[0]
    assert isinstance(body, ast.ClassDef)
    for field, after in zip(body.body, body.body[1:], strict=False):
        text = after.value if isinstance(after, ast.Expr) else None
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Constant):
            yield ast.unparse(field.target), _plain(inspect.cleandoc(str(text.value)))


def _plain(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


def _shown(value: Any) -> str:
    if callable(value) or value in ("", (), {}) or value is None:
        return ""
    if isinstance(value, tuple):
        return f"`{json.dumps(list(value))}`"
    return f"`{json.dumps(value)}`"
