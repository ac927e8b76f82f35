"""Names that only POSIX systems have stand in ``skillyard.base.io``, and text is read as UTF-8."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.base.io.stubs import LACKING_MODULES, lacking_names
from tests.requirements import requirement
from tests.shared_data import REPOSITORY

SOURCE = REPOSITORY / "src" / "skillyard"
CHECKED = ("os", "select", "signal", "socket", "sys", "time")


LACKING = "|".join(
    rf"\b{module}\.(?:{'|'.join(sorted(lacking_names(module)))})\b" for module in CHECKED
)
SUSPECT = re.compile(
    rf"{LACKING}|from (?:{'|'.join(CHECKED)}) import"
    rf"|(?:import|from) (?:{'|'.join(sorted(LACKING_MODULES))})\b"
)
"""What makes a file worth parsing: half a second for all of them instead of three."""


def sources(suspect: re.Pattern[str]) -> Iterator[tuple[str, ast.Module]]:
    """Yield path and tree of each file in which the pattern is found."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if suspect.search(text):
            where = path.relative_to(SOURCE).as_posix()
            yield where, ast.parse(text, where)


def posix_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of everything used that Windows lacks; ``getattr`` asks and is none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
            if node.module in CHECKED:
                lacking = lacking_names(node.module)
                yield from ((node.lineno, a.name) for a in node.names if a.name in lacking)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in CHECKED and node.attr in lacking_names(node.value.id):
                yield node.lineno, f"{node.value.id}.{node.attr}"
            continue
        else:
            continue
        yield from ((node.lineno, name) for name in modules if name in LACKING_MODULES)


@requirement("platforms:posix-names")
def test_names_of_posix_systems_are_used_in_one_package() -> None:
    found = {(where, name) for where, tree in sources(SUSPECT) for _, name in posix_names(tree)}
    assert {(where, name) for where, name in found if not where.startswith("base/io/")} == set()
    assert ("base/io/files.py", "os.geteuid") in found  # the search finds them where they are


def text_files(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and fault of every file that is opened as text in the system's own way."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        given = {keyword.arg for keyword in node.keywords}
        if isinstance(called, ast.Name) and name == "open":
            mode = next((k.value for k in node.keywords if k.arg == "mode"), None)
            mode = mode or (node.args[1] if len(node.args) > 1 else ast.Constant("r"))
            if "b" in str(getattr(mode, "value", "b")):
                continue
            if "encoding" not in given:
                yield node.lineno, "no encoding"
        elif isinstance(called, ast.Attribute) and name in ("read_text", "write_text"):
            own = isinstance(called.value, ast.Name) and called.value.id in ("host", "self")
            if "encoding" not in given and not node.args and not own:
                yield node.lineno, "no encoding"


def test_no_text_is_read_or_written_in_the_encoding_of_the_system() -> None:
    assert list(text_files(ast.parse("open(p)\nopen(p, 'w')\np.read_text()"))) == [
        (1, "no encoding"), (2, "no encoding"), (3, "no encoding"),
    ]  # fmt: skip
    suspect = re.compile(r"\bopen\(|_text\(")
    trees = list(sources(suspect))
    assert len(trees) > 20
    assert [(where, *fault) for where, tree in trees for fault in text_files(tree)] == []
