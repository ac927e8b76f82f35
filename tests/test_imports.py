"""The import rule (design.md §2): only downwards, no circle, nothing heavy before it is used.

The contracts of import-linter are in pyproject.toml. What stands at the top of modules is read from
syntax trees; what an interpreter really loads is asked of fresh ones.
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

SURFACES = ("cli", "serve", "hosts.adapters", "evals.agent.process", "__main__")
"""Folders and modules that may import third-party packages at the top of a module."""
CORE = ("base", "engine", "check", "install.policy", "")
OF_EXTRAS = ("engine.embedding",)
"""What stands in the core and needs an extra, and says so."""
CORE_DEPENDENCIES = {"yaml", "Stemmer", "filelock", "platformdirs", "shtab"}
AT_MODULE_LEVEL = {"yaml"}
OF_EVALS = {"pydantic", "typing_extensions"}
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


def stands_in(module: str, folders: tuple[str, ...]) -> bool:
    own = module.removeprefix(PACKAGE).removeprefix(".")
    return any(own == folder or (folder and own.startswith(f"{folder}.")) for folder in folders)


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


def third_party() -> list[Use]:
    known = {*sys.stdlib_module_names, PACKAGE}
    return [use for use in uses() if use.target.split(".")[0] not in known]


def test_the_contracts_of_import_linter_hold() -> None:
    pytest.importorskip("importlinter", reason="make lint has import-linter")
    # In a process of its own: it sets up logging, which would be that of every later test.
    lint = (
        "import sys; from importlinter.cli import lint_imports;"
        " sys.exit(lint_imports('pyproject.toml', no_cache=True, no_logo=True))"
    )
    done = subprocess.run(
        [sys.executable, "-c", lint], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_module_is_in_a_circle_of_imports_or_types() -> None:
    grimp = pytest.importorskip("grimp", reason="make lint has import-linter")
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    # The door names every public name for type checkers, and only the command imports it.
    imports = {
        each: graph.find_modules_directly_imported_by(each) for each in graph.modules - {PACKAGE}
    }
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")


def test_below_the_surfaces_only_the_yaml_reader_is_imported_at_module_level() -> None:
    heavy = [use for use in third_party() if use.at_top and not stands_in(use.module, SURFACES)]
    for use in heavy:
        more = OF_EVALS if use.module.startswith("skillyard.evals.") else set()
        assert use.target.split(".")[0] in AT_MODULE_LEVEL | more, use.module


def test_the_core_uses_only_what_the_project_depends_on() -> None:
    core = [
        use
        for use in third_party()
        if stands_in(use.module, CORE) and not stands_in(use.module, OF_EXTRAS)
    ]
    assert {use.target.split(".")[0] for use in core} <= CORE_DEPENDENCIES


def test_nothing_uses_the_testkit_and_that_uses_only_errors_of_ours() -> None:
    assert not any(use.target.startswith(TESTKIT) for use in third_party())
    sources = (REPOSITORY / "testkit" / "src").rglob("*.py")
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sources]
    imported = {name for tree in trees for node, _ in visited(tree.body, True)
                for name in targets(node)}  # fmt: skip
    assert {name for name in imported if name.startswith(f"{PACKAGE}.")} == {
        "skillyard.base.errors"
    }
    assert PACKAGE not in imported


def test_each_import_statement_is_seen_with_its_place() -> None:
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


REMOTE = ("SearchService",)


def test_every_public_name_loads_only_what_the_project_depends_on() -> None:
    loaded = loaded_by("import skillyard as sy; [getattr(sy, name) for name in sy.__all__]")
    assert foreign(loaded) - {"_yaml"} <= CORE_DEPENDENCIES


def test_reading_and_ranking_load_only_what_the_project_depends_on() -> None:
    loaded = loaded_by(
        "import skillyard as sy\nfrom skillyard.scorers import scorer_names\n"
        f"[getattr(sy, name) for name in sy.__all__ if name not in {REMOTE}]\n"
        "skills = [sy.Skill('deploy', 'Deploy apps.', 'x')]\n"
        "[sy.rank(skills, 'deploy', scorer=name)[0].explanation for name in scorer_names()]\n"
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
