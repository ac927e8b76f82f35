"""What the standard library lacks on Windows, as the type stubs that mypy brings say it."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import mypy

STUBS = Path(mypy.__file__).parent / "typeshed" / "stdlib"
LACKING_MODULES = frozenset({
    "crypt", "curses", "fcntl", "grp", "nis", "ossaudiodev", "posix", "pty", "pwd", "readline",
    "resource", "spwd", "syslog", "termios", "tty",
})  # fmt: skip


@cache
def lacking_names(module: str) -> frozenset[str]:
    """Return the names of a module that Linux or macOS has and Windows has not."""
    path = STUBS / module / "__init__.pyi"
    path = path if path.is_file() else STUBS / f"{module}.pyi"
    body = ast.parse(path.read_text(encoding="utf-8")).body
    posix = {name for system in ("linux", "darwin") for name in _bound(body, system)}
    return frozenset(posix - set(_bound(body, "win32")))


def _bound(body: list[ast.stmt], system: str) -> list[str]:
    """Return the names that the statements of a stub bind on a system."""
    names: list[str] = []
    for node in body:
        if isinstance(node, ast.If):
            names += _bound(node.body if _holds(node.test, system) else node.orelse, system)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            names += [target.id for target in targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.ImportFrom):
            names += [alias.asname or alias.name for alias in node.names]
    return names


def _holds(test: ast.expr, system: str) -> bool:
    told = SimpleNamespace(platform=system, version_info=sys.version_info)
    return bool(eval(ast.unparse(test), {"sys": told, "TYPE_CHECKING": True}))
