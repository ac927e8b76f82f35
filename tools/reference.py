#!/usr/bin/env python3
"""Write the generated pages of docs/reference from the package itself.

``python tools/reference.py`` rewrites them; ``--check`` writes nothing and exits with 1 when one
of them is stale. Needs nothing but the package, found in ``src`` beside this folder.

* ``cli.md``: the grammar of the command line
* ``configuration.md``: the sections of ``skillyard.toml``
* ``diagnostics.md``: the catalogue of rules
* ``scan-rules.md``: the rules of the scan, each with its examples
* ``python.md``: the public names with the first lines of their docstrings
* ``hosts.md``: the folders of agent hosts
* ``json.md``: the documents that have a class; what stands above the remark is written by hand
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from argparse import Action
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import FunctionType
from typing import Any

from configuration_page import configuration_page
from host_page import host_page
from json_page import json_sections

import skillyard
from skillyard.check.scanning import RULES as SCAN_RULES
from skillyard.check.scanning.rule import Example
from skillyard.check.validation.codes import PROFILES, RENAMED, RULES
from skillyard.check.validation.fixes import FIXABLE
from skillyard.cli.grammar import PROGRAM, CommandParser, command_parsers, shared_options
from skillyard.cli.options import suggestions

REPOSITORY = Path(__file__).resolve().parent.parent
REFERENCE = REPOSITORY / "docs" / "reference"

GENERATED = "<!-- Written by tools/reference.py from the code. Do not edit: change the code. -->"


def main(arguments: list[str]) -> int:
    """Write the pages, or say which are stale; return the exit code."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write("usage: reference.py [--check]\n")
        return 2
    stale = [name for name, text in _pages() if _written(name) != text]
    if arguments:
        for name in stale:
            sys.stdout.write(f"docs/reference/{name} is stale: run tools/reference.py\n")
        return 1 if stale else 0
    for name, text in _pages():
        if name in stale:
            (REFERENCE / name).write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote docs/reference/{name}\n")
    return 0


def _pages() -> Iterator[tuple[str, str]]:
    """Yield the name of each page and the text that it should have."""
    for name, write in WRITERS.items():
        yield name, "\n".join(write()).rstrip("\n") + "\n"


def _written(name: str) -> str:
    path = REFERENCE / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


# The command line


_CLI_HEAD = f"""\
# Command line

{GENERATED}

`{PROGRAM} [options] COMMAND …`. `{PROGRAM} --help` lists the commands, `{PROGRAM} COMMAND --help`
or `{PROGRAM} help COMMAND` explains one, `{PROGRAM} --version` prints the version. Answers go to
standard output, everything else to standard error. With `--json` a command prints one
[document](json.md) of its name, such as `skillyard.list/1`. On a terminal answers are drawn with
colours and tables; elsewhere they are plain text, the same bytes for the same input.

## Exit codes

0: done. 1: the command's own negative answer. 2: wrong use, or input that cannot be read. 3:
stopped by a budget or an interrupt, and what was done is written. 4: something could not be reached
or measured. 130: interrupted.

The negative answers stand with their commands. A reader that goes away (`| head`) is a clean end.
"""
_SHARED = """
## Options of most commands

They may stand before or after the command.
"""
_COMMON = """
## Options of several commands

A command that has them names them below.
"""


_SCHEMAS = {
    **{f"eval run {layer}": "eval-run" for layer in ("activation", "effectiveness", "size-impact")},
    **{f"store {each}": "store-schema" for each in ("init", "migrate")},
    **{f"store {each}": "store-changed" for each in ("withdraw", "rollback")},
    **{f"store {each}": "store-granted" for each in ("grant", "revoke")},
}
"""Commands whose JSON is not called as they are."""
_OFTEN = 2
"""From this number of commands on, an option is described once for all of them."""
_MOST_WORDS = 20
"""More words than these are only the names of hosts, which have a page."""


def _cli() -> Iterator[str]:
    yield _CLI_HEAD
    commands = command_parsers()
    uses = Counter(_entry(action) for command in commands for action in command.arguments)
    common: dict[str, str] = {}
    for entry, count in uses.most_common():
        if count >= _OFTEN:
            common.setdefault(entry.split("`")[1], entry)
    yield _SHARED
    yield from map(_entry, shared_options())
    yield _COMMON
    yield from sorted(common.values())
    like: dict[str, CommandParser] = {}
    for command in commands:
        rest = command.about
        yield from _command(command, set(common.values()), like.get(rest))
        if rest:
            like.setdefault(rest, command)


def _command(command: CommandParser, common: set[str], like: CommandParser | None) -> Iterator[str]:
    """Yield a command's section; of what ``like`` has too, only that it is the same."""
    yield from ("", f"## {PROGRAM} {command.name}", "")
    if like is None:
        document = _SCHEMAS.get(command.name)
        yield f"{command.explanation}" + (f" JSON: `skillyard.{document}/1`." if document else "")
        entries = [_entry(action) for action in command.arguments]
    else:
        title = command.explanation.removesuffix(command.about).strip()
        anchor = f"{PROGRAM}-{like.name}".replace(" ", "-")
        yield f"{title} The rest is as in [{like.name}](#{anchor})."
        known = {_entry(action) for action in like.arguments}
        entries = [entry for entry in map(_entry, command.arguments) if entry not in known]
    own = [entry for entry in entries if entry not in common]
    others = [f"`{entry.split('`')[1]}`" for entry in entries if entry in common]
    if own:
        yield from ("", *own)
    if others:
        yield from ("", f"Also {', '.join(others)}.")


def _entry(action: Action) -> str:
    """Return the line of one option: its name, what it takes, and its help."""
    value = "" if action.nargs == 0 or not action.option_strings else f" {action.metavar}"
    text = (action.help or "") % vars(action)
    words = [word for word in suggestions(action) if word not in text]
    if len(words) > _MOST_WORDS:
        words = ["the names of [hosts](hosts.md#folders)"]
    choices = f" ({', '.join(words)})" if words else ""
    required = "; required" if action.required and action.option_strings else ""
    return f"- `{_label(action)}`{value}: {text}{choices}{required}"


def _label(action: Action) -> str:
    """Return what the reader types or replaces: ``-n`, `--limit``, ``QUERY``."""
    return "`, `".join(action.option_strings) or str(action.metavar)


# Diagnostics


_DIAGNOSTICS_HEAD = f"""\
# Diagnostics

{GENERATED}

The {len(RULES)} codes that `skillyard check`, `validate` and `Catalog.diagnostics` use. Each
finding says what to do. [Checking in CI](../guides/ci.md) shows how to ignore codes and to change
their severity.

- `error`: the file did not load, or the profile refuses it; `skillyard check` exits with 1.
- `warning`: something to repair, which fails the check with `--strict`.
- `info`: good to know. A dash: the profile does not report it.

In brackets is the severity under every profile, or under `lenient` (the default: what loads
is no error), `spec` (the text of agentskills.io) and `reference` (the specification's own
validator), in this order. A finding of reading is never milder than reading itself reports it.

`skillyard check --fix` can fix {", ".join(f"`{code}`" for code in sorted(FIXABLE))}.
"""


def _diagnostics() -> Iterator[str]:
    yield _DIAGNOSTICS_HEAD
    alike: dict[tuple[str, str], list[str]] = {}
    for code, rule in RULES.items():
        grades = [_grade(rule.severities[profile]) for profile in PROFILES]
        grade = "/".join(grades[:1] if len(set(grades)) == 1 else grades)
        title = re.sub(r"^The field \w+ is", "The field is", rule.title)
        alike.setdefault((grade, title), []).append(f"`{code}`")
    for (grade, title), codes in alike.items():
        yield f"- {', '.join(codes)} ({grade}): {title}"
    yield from ("", "## Coarser names", "")
    yield "Some sources know no finer word. Under these profiles a finding goes by another code:"
    yield ""
    for coarse in sorted(set(RENAMED.values())):
        finer = ", ".join(f"`{code}`" for code in sorted(RENAMED) if RENAMED[code] == coarse)
        yield f"- `reference` says `{coarse}` for {finer}"


def _grade(severity: str) -> str:
    return "–" if severity == "off" else severity


# Rules of the scan


_SCAN_HEAD = f"""\
# Rules of the scan

{GENERATED}

The {len(SCAN_RULES)} rules of `skillyard scan` and of the scan before `skillyard add`. [Scan
skills](../guides/scan.md) shows how to use them and says what they cannot find. A `high` finding
fails `scan` and stops `add`, a `medium` one fails `scan --strict`. A hit that is quoted as an
example of an attack counts as `medium`, except under the rules that say so here. Each finding says
what to do.
"""


def _scan_rules() -> Iterator[str]:
    yield _SCAN_HEAD
    for rule in SCAN_RULES:
        quoted = "" if rule.quotable else " Quoting does not lower it."
        yield from (f"## {rule.id}", "", f"{rule.title} (`{rule.severity}`). {rule.why}{quoted}")
        yield from (f"Found: {_example(rule.hit)}.", "")


def _example(example: Example) -> str:
    if example.link:
        return f"`{example.path}`, a link to `{example.link}`"
    text = "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in example.text.strip())
    text = text.replace("\\u{a}", " ⏎ ")
    fence = "``" if "`" in text else "`"
    pad = " " if "`" in text else ""
    return f"`{example.path}` with {fence}{pad}{text}{pad}{fence}"


# Public names


_PYTHON_HEAD = f"""\
# Python names

{GENERATED}

Everything that `import skillyard` offers, in the order of the data, and what its public modules
add. The guide to it is [Python](../guides/python.md); `help()` explains each member."""
_SELF = ("self", "cls")
_LONGEST_DEFAULT = 24
_LONGEST_SIGNATURE = 160


def _python() -> Iterator[str]:
    yield _PYTHON_HEAD
    yield from ("", "## skillyard", "", "- `__version__`: the version of the package, as text.")
    for name in skillyard._ROOMS:
        if name != "__version__":
            yield from _public(name, getattr(skillyard, name))
    for title in sorted({*skillyard._MODULES} - {"evals"}):
        module = getattr(skillyard, title)
        yield from ("", f"## skillyard.{title}", "", _summary(module), "")
        for name in sorted(module.__all__, key=str.lower):
            if name not in skillyard.__all__:
                yield from _public(name, getattr(module, name))


def _public(name: str, value: Any) -> Iterator[str]:
    if inspect.isfunction(value):
        yield f"- `{name}{_signature(value)}`: {_summary(value)}"
    elif not inspect.isclass(value):
        yield f"- `{name}`: the `{type(value).__name__}` that is used where none is given."
    else:
        bare = issubclass(value, Exception) or getattr(value, "_is_protocol", False)
        members = ", ".join(f"`.{member}`" for member in [*_fields(value), *_methods(value)])
        below = f" Members: {members}." if members else ""
        yield f"- `{name}{'' if bare else _signature(value)}`: {_summary(value)}{below}"


def _fields(value: type) -> Iterator[str]:
    """Yield the class attributes that have a docstring of their own below them."""
    tree = ast.parse(inspect.getsource(value)).body[0]
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    for field, after in pairwise(body):
        docstring = after.value if isinstance(after, ast.Expr) else None
        if isinstance(field, ast.Assign | ast.AnnAssign) and isinstance(docstring, ast.Constant):
            yield ast.unparse(field.targets[0] if isinstance(field, ast.Assign) else field.target)


def _methods(value: type) -> Iterator[str]:
    """Yield the public methods and properties that the class itself defines, in source order."""
    for name, member in vars(value).items():
        function = member.__func__ if isinstance(member, classmethod) else member
        if name.startswith("_") or not inspect.getdoc(function):
            continue
        if isinstance(function, FunctionType):
            yield f"{name}{_signature(function)}"
        elif isinstance(function, property):
            yield name


def _signature(value: Any) -> str:
    """Return the parameters with their defaults; of very many only those without one."""
    signature = inspect.signature(value).parameters.values()
    parameters = [parameter for parameter in signature if parameter.name not in _SELF]
    shown = [_parameter(parameter) for parameter in parameters]
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        shown.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    if len(", ".join(shown)) > _LONGEST_SIGNATURE:
        shown = [p.name for p in parameters if p.default is inspect.Parameter.empty] + ["…"]
    return f"({', '.join(shown)})"


def _parameter(parameter: inspect.Parameter) -> str:
    star = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else ""
    if parameter.default is inspect.Parameter.empty:
        return star + parameter.name
    default = repr(parameter.default)
    plain = len(default) <= _LONGEST_DEFAULT and "<" not in default
    return f"{parameter.name}={default if plain else '…'}"


def _summary(value: Any) -> str:
    return _plain((inspect.getdoc(value) or "").split("\n\n")[0])


def _plain(text: str) -> str:
    """Return text of a docstring on one line, with backticks instead of its markup."""
    line = re.sub(r":[a-z]+:`[~.]?([^`]+)`", r"`\1`", text.replace("\n", " "))
    return line.replace("``", "`")


# JSON documents


_MADE = "<!-- From here on: written by tools/reference.py -->"


def _json() -> Iterator[str]:
    """Return the page: its first part as it stands, then the documents that have a class."""
    yield _written("json.md").partition(_MADE)[0] + _MADE
    yield ""
    yield from json_sections()


WRITERS: dict[str, Callable[[], Iterator[str]]] = {
    "cli.md": _cli,
    "configuration.md": lambda: configuration_page(GENERATED),
    "diagnostics.md": _diagnostics,
    "hosts.md": lambda: host_page(GENERATED),
    "scan-rules.md": _scan_rules,
    "python.md": _python,
    "json.md": _json,
}

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
