"""The import rule (design.md §2): only downwards, no circle, nothing heavy before it is used.

The sources are read as syntax trees; what an interpreter really loads is asked of fresh ones.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.parity.trees import write_tree
from tests.shared_data import PACKAGES, REPOSITORY
from tests.tables import for_each
from tests.worked_examples.making import document

SOURCE = REPOSITORY / "src"
PACKAGE = "skillyard"
TESTKIT = "skillyard_testkit"

# A room imports its own level or lower. The door and the command's entry stand above all.
LEVELS = {
    "arguments": 0, "diagnostics": 0, "errors": 0, "extras": 0, "invisible": 0, "io": 0,
    "limits": 0, "lookalikes": 0, "shapes": 0, "sums": 0, "text": 0, "unicode_tables": 0,
    "skill": 1,
    "formats": 2, "discovery": 2, "resources": 2,
    # Validation stands one level above its place in the design: its rules for whole libraries
    # look at catalogs.
    "catalog": 3, "validation": 3, "analysis": 3, "embedding": 3,
    "index": 4, "scanning": 4,
    "ranking": 5, "store": 5, "policy": 5,
    "selection": 6, "remote": 6,
    "context": 7,
    # A use case (doctor) looks at what the hook keeps; nothing in hook imports a surface.
    "decisions": 8, "evals": 8, "hook": 8,
    "usecases": 9,
    "serving": 10, "serving.runtime": 10,
    "cli": 11, "serving.mcp": 11, "serving.http": 11, "serving.web": 11, "adapters": 11,
    "client": 11, "__main__": 11,
    "": 12,
}  # fmt: skip
SURFACE, SERVING = 11, 10
OF_SEVERAL = {"serving"}
"""Folders that hold several rooms."""
CORE_DEPENDENCIES = {"yaml", "Stemmer", "filelock", "platformdirs", "shtab"}
CROSSINGS = {
    ("cli", "serving.http"), ("cli", "serving.mcp"),  # ``serve`` starts them
    ("serving.http", "serving.mcp"),  # MCP at one path of the service
    ("serving.http", "serving.web"),  # it serves the pages, which know of no server
    ("__main__", "cli"),
}  # fmt: skip
"""The surfaces that use another one."""
OF_EXTRAS = {"embedding", "remote", "store"}
"""Rooms below the surfaces that only work with an extra, and say so."""
AT_MODULE_LEVEL = {"yaml"}
"""What may stand at the top of a module below the surfaces; the rest waits inside functions."""


class Use(NamedTuple):
    """One import statement's target in one module."""

    module: str
    line: int
    target: str
    """The full name of the module that is imported."""
    at_top: bool
    """It runs when the module is imported."""


@cache
def modules() -> dict[str, Path]:
    found = {}
    for path in sorted((SOURCE / PACKAGE).rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def room(module: str) -> str:
    parts = module.split(".")[1:3]
    return ".".join(parts[: 1 + (parts[0] in OF_SEVERAL)]) if parts else ""


def level(module: str) -> int:
    return LEVELS.get(room(module), 0)


def visited(body: list[ast.stmt], at_top: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the import statements below a body; what only type checkers see is left out."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, at_top
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from visited(node.orelse, at_top)
        else:
            inside = at_top and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for field in ("body", "orelse", "finalbody"):
                yield from visited(getattr(node, field, []), inside)
            for branch in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                yield from visited(branch.body, inside)


def targets(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "relative imports are not used here"
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in modules() else node.module or ""


@cache
def uses() -> tuple[Use, ...]:
    return tuple(
        Use(module, node.lineno, target, at_top)
        for module, path in modules().items()
        for node, at_top in visited(ast.parse(path.read_text(encoding="utf-8")).body, True)
        for target in dict.fromkeys(targets(node))
    )


def ours() -> list[Use]:
    return [use for use in uses() if use.target.split(".")[0] == PACKAGE]


def third_party() -> list[Use]:
    known = {*sys.stdlib_module_names, PACKAGE}
    return [use for use in uses() if use.target.split(".")[0] not in known]


def test_every_room_has_a_level() -> None:
    assert {room(module) for module in modules()} - set(LEVELS) == set()


def test_a_room_imports_its_own_level_or_lower() -> None:
    upward = [use for use in ours() if level(use.module) < level(use.target)]
    assert [use for use in upward if use.target != PACKAGE] == []


def test_only_surfaces_go_through_the_door() -> None:
    through = {room(use.module) for use in ours() if use.target == PACKAGE}
    assert {name for name in through if LEVELS[name] < SURFACE} == set()


def test_surfaces_do_not_import_each_other() -> None:
    crossing = {
        (room(use.module), room(use.target))
        for use in ours()
        if level(use.module) == level(use.target) == SURFACE
        and room(use.module) != room(use.target)
    }
    assert crossing - CROSSINGS == set()


def test_no_circle_of_rooms_is_imported_inside_functions_either() -> None:
    graph: dict[str, set[str]] = {name: set() for name in LEVELS}
    for use in ours():
        if room(use.module) != room(use.target) and use.target != PACKAGE:
            graph[room(use.module)].add(room(use.target))
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of rooms: {' -> '.join(error.args[1])}")


def test_the_engine_never_imports_the_evaluation() -> None:
    assert [use for use in ours() if room(use.target) == "evals" and
            room(use.module) not in {"evals", "usecases", "cli"}] == []  # fmt: skip


def ancestors(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:size]) for size in range(1, len(parts))]


def test_no_circle_of_any_length_is_imported() -> None:
    graph: dict[str, set[str]] = {module: set() for module in modules()}
    for use in ours():
        if use.at_top:
            # Importing a module also runs the packages around it, but for those we are in already.
            around = set(ancestors(use.target)) - {use.module, *ancestors(use.module)}
            graph[use.module] |= {use.target, *around} - {use.module}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")
    assert len(order) == len(graph)


def test_below_the_surfaces_only_the_yaml_reader_is_imported_at_module_level() -> None:
    heavy = [use for use in third_party() if use.at_top and level(use.module) < SERVING]
    assert {use.target.split(".")[0] for use in heavy} <= AT_MODULE_LEVEL


def test_the_core_uses_only_what_the_project_depends_on() -> None:
    core = [
        use
        for use in third_party()
        if level(use.module) <= LEVELS["context"] and room(use.module) not in OF_EXTRAS
    ]
    assert {use.target.split(".")[0] for use in core} <= CORE_DEPENDENCIES


def test_only_fake_llm_uses_the_testkit_and_that_uses_only_errors_of_ours() -> None:
    users = {use.module for use in third_party() if use.target.startswith(TESTKIT)}
    assert users == {"skillyard.cli.commands.fake_llm"}
    sources = (REPOSITORY / "testkit" / "src").rglob("*.py")
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sources]
    imported = {name for tree in trees for node, _ in visited(tree.body, True)
                for name in targets(node)}  # fmt: skip
    assert {name for name in imported if name.startswith(f"{PACKAGE}.")} == {"skillyard.errors"}
    assert PACKAGE not in imported


def test_a_missing_level_or_an_upward_import_would_be_seen() -> None:
    tree = ast.parse(
        "import a\nif TYPE_CHECKING:\n    import b\nelse:\n    import c\n"
        "try:\n    import d\nexcept ImportError:\n    import e\n"
        "def f():\n    import g\n    with x:\n        import h\n"
        "class K:\n    import i\n    def m(self):\n        import j\n"
        "match x:\n    case 1:\n        import k\n"
    )
    seen = [(next(targets(node)), at_top) for node, at_top in visited(tree.body, True)]
    assert seen == [
        ("a", True), ("c", True), ("d", True), ("e", True), ("g", False), ("h", False),
        ("i", True), ("j", False), ("k", True),
    ]  # fmt: skip


def loaded_by(code: str, *arguments: str, cwd: Path | None = None) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after ``code``, its start left out."""
    program = (
        "import sys\n"
        "sys.path.insert(0, sys.argv.pop(1))\n"
        "before = set(sys.modules)\n"
        f"{code}\n"
        "found = {n for n, m in sys.modules.items() if getattr(m, '__spec__', None)}\n"
        "loaded = sorted(found - before)\n"
        "import json, os\n"
        "os.write(2, json.dumps(loaded).encode())\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, str(PACKAGES), *arguments],
        capture_output=True, text=True, encoding="utf-8", timeout=120, cwd=cwd, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


def foreign(loaded: set[str]) -> set[str]:
    known = {*sys.stdlib_module_names, PACKAGE}
    return {name.split(".")[0] for name in loaded} - known


def test_importing_the_package_loads_no_third_party_module_and_no_room() -> None:
    loaded = loaded_by("import skillyard; dir(skillyard); skillyard.__all__")
    assert foreign(loaded) == set()
    assert {name for name in loaded if name.startswith(PACKAGE)} == {PACKAGE}


REMOTE = ("SearchResult", "SearchService", "SourceFailed")


def test_every_public_name_loads_only_what_the_project_depends_on() -> None:
    loaded = loaded_by("import skillyard as sy; [getattr(sy, name) for name in sy.__all__]")
    assert foreign(loaded) - {"_yaml"} <= CORE_DEPENDENCIES


def test_reading_and_ranking_load_only_what_the_project_depends_on() -> None:
    loaded = loaded_by(
        "import skillyard as sy\n"
        f"[getattr(sy, name) for name in sy.__all__ if name not in {REMOTE}]\n"
        "skills = [sy.Skill('deploy', 'Deploy apps.', 'x')]\n"
        "[sy.rank(skills, 'deploy', scorer=name)[0].explanation for name in sy.scorer_names()]\n"
        "sy.summary(skills), sy.inject('deploy', skills)\n"
    )
    assert foreign(loaded) - {"_yaml"} <= CORE_DEPENDENCIES
    assert not loaded & {"asyncio", "ssl", "http.client", "urllib.request", "multiprocessing"}


HEAVY = {"rich", "asyncio", "numpy", "ssl", "http.client", "email", "unittest"}


@pytest.mark.skipif(find_spec("skillyard.cli") is None, reason="there is no command line")
@for_each(
    "arguments",
    [
        ("select", "deploy the app", "--json"),
        ("rank", "deploy the app", "--scorer", "relevance", "--json"),
        ("rank", "deploy the app", "--explain"),
        ("evaluate", "--text", "deploy the app", "--json"),
        ("summary",),
        ("inject", "deploy the app"),
        ("list", "--json"),
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_a_command_into_a_pipe_loads_nothing_for_terminals_or_networks(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    root = write_tree(tmp_path / "p", {"deploy/SKILL.md": document("deploy", "Deploy the app.")})
    loaded = loaded_by(
        "from skillyard.cli import main\nassert main() == 0, 'the command failed'",
        *arguments, cwd=root,
    )  # fmt: skip
    assert not loaded & HEAVY
    assert foreign(loaded) - {"_yaml"} <= CORE_DEPENDENCIES
