"""Random commands and edits beside a model of what belongs to whom.

What a command creates in the place of a skill is skillyard's, and what the user names in ``add``
where the very files lie already. All else is the user's, and so is an edited copy: no command may
change or remove it, and an edited copy may only be moved to a backup.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.remotes import text
from tests.install.git.home import git_home as git_home
from tests.requirements import requirement

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")

STEPS = 20
CHUNK = 20
QUICK, ALL = 60, 500 if os.environ.get("SKILLYARD_SOAK") else 120
"""Sequences of the quick suite, and of all of it."""
NAMES = ("pay", "ship")
AGENTS = ("claude-code", "codex", "cursor", "github-copilot", "openclaw", "windsurf")
SOURCES = ("skills", ".github/skills", ".agents/skills", "lib", "~/.cursor/skills", "~/mine")
HOSTS = (".agents", ".claude", ".cursor", ".github", ".windsurf", "~/.claude", "~/.copilot")
LOCKS = ("skills-lock.json", ".skill-lock.json")
Tree = dict[str, tuple[str, int]]
"""Text or target, and mode, by path."""


class World:
    """A project and a home, what skillyard wrote there, and the steps so far."""

    def __init__(self, run: Run, project: Path, home: Path, chance: random.Random) -> None:
        self.run, self.project, self.home, self.chance = run, project, home, chance
        self.written: set[str] = set()
        """Places of copies and links, relative."""
        self.edited: set[str] = set()
        self.gone: set[str] = set()
        """Places of which the user removed what skillyard wrote."""
        self.steps: list[str] = []
        self.sources = {
            str(Path(place).expanduser() / name)
            for place in chance.sample(SOURCES, 2)
            for name in NAMES
        }
        for number, source in enumerate(sorted(self.sources)):
            self.write(Path(source), f"Body {number}.")

    def write(self, folder: Path, body: str) -> None:
        folder = self.project / folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(text(folder.name, f"Does {folder.name}.", body))
        (folder / "run.sh").write_text("echo\n")
        (folder / "run.sh").chmod(self.chance.choice((0o644, 0o755)))

    def tree(self) -> Tree:
        """Return every file and link of the user's and of skillyard's, but for the locks."""
        return {path: each for root in (self.project, self.home) for path, each in _tree(root)}

    def place_of(self, path: str) -> str | None:
        """Return the place of a skill that a path lies in and that skillyard wrote."""
        return next((p for p in self.written if path == p or path.startswith(f"{p}/")), None)

    # What the user does.

    def edit_source(self) -> None:
        source = self.project / self.chance.choice(sorted(self.sources))
        self.steps.append(f"edit {source}")
        self.write(source, f"Edited {len(self.steps)}.")

    def edit_copy(self) -> None:
        places = [each for each in sorted(self.written) if not os.path.islink(each)]
        if places:
            place = self.chance.choice(places)
            self.steps.append(f"edit {place}")
            (Path(place) / "notes.md").write_text(f"Mine {len(self.steps)}.")
            self.edited.add(place)

    def delete_copy(self) -> None:
        if self.written:
            place = self.chance.choice(sorted(self.written))
            self.steps.append(f"delete {place}")
            os.unlink(place) if os.path.islink(place) else shutil.rmtree(place)
            self.edited.discard(place)
            self.gone.add(place)
            self.written.discard(place)

    def add_foreign(self) -> None:
        """Write a skill of the user's where a host looks, or link one: as it is, or the same."""
        host, name = self.chance.choice(HOSTS), self.chance.choice(NAMES)
        place = self.project / Path(host).expanduser() / "skills" / name
        if os.path.lexists(place) or str(place) in self.gone:
            return
        kind = self.chance.choice(("own", "mirror", "link", "link to a source"))
        self.steps.append(f"{kind} at {place}")
        sources = [each for each in sorted(self.sources) if Path(each).name == name]
        source = self.project / self.chance.choice(sources)
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "own":
            self.write(place, f"Own {len(self.steps)}.")
        elif kind == "mirror":
            shutil.copytree(source, place)
        elif kind == "link":
            self.write(self.home / "elsewhere" / name, "Elsewhere.")
            place.symlink_to(self.home / "elsewhere" / name)
        else:
            place.symlink_to(source)

    # What skillyard does.

    def command(self, *arguments: str) -> None:
        self.steps.append(" ".join(arguments))
        before = self.tree()
        answer = self.run(*arguments, "--json")
        assert answer.code in (0, 1, 2), answer
        self.check(before, self.tree())
        if answer.code == 0 and arguments[0] == "add":
            document = answer.json
            for path in (document["folder"], *document["copies"], *document["links"]):
                place = os.path.join(self.project, path)
                self.written.add(place)  # what was there already, too: the user named it
        if arguments[0] == "verify" and answer.out:
            for skill in answer.json["skills"]:
                folders = {os.path.join(self.project, each) for each in skill["folders"]}
                assert (skill["state"] == "edited") <= bool(folders & self.edited), skill

    def check(self, before: Tree, after: Tree) -> None:
        """Nothing of the user's is changed; what is new in the place of a skill is skillyard's."""
        for path, was in before.items():
            place = self.place_of(path)
            if after.get(path) == was:
                continue
            assert place is not None, f"{path} is the user's"
            if place in self.edited:
                assert not os.path.lexists(place), f"{place} was edited"
                kept = [after.get(path.replace(place, each)) for each in _backups(place)]
                assert was in kept, f"{path} was edited, and is not in the backup"
        for place in sorted(self.written):
            if not os.path.lexists(place):
                self.written.discard(place)
                self.edited.discard(place)
        for path in after.keys() - before.keys():
            parts = Path(path).parts
            if self.place_of(path) is None and "skills-kept" not in parts:
                assert any(part in NAMES for part in parts), f"{path} is new"
                end = next(n for n, part in enumerate(parts) if part in NAMES)
                place = str(Path(*parts[: end + 1]))
                assert not any(each == place or each.startswith(f"{place}/") for each in before)
                self.written.add(place)

    def add(self) -> None:
        source = self.chance.choice(sorted(self.sources))
        agents = self.chance.sample(AGENTS, self.chance.choice((1, 1, 2)))
        options = self.chance.choice(((), (), ("--copy",), ("--link",)))
        scope = self.chance.choice(((), (), (), ("--global",)))
        named = source if os.path.isabs(source) else f"./{source}"
        flags = [part for agent in agents for part in ("--agent", agent)]
        self.command("add", named, *flags, *options, *scope)

    def act(self) -> None:
        """Do one random step."""
        locks = {
            (): self.project / "skills-lock.json",
            ("--global",): self.home / ".agents" / ".skill-lock.json",
        }
        scopes = [each for each, lock in locks.items() if lock.exists()]
        if not scopes:
            self.add()
            return
        scope, name = self.chance.choice(scopes), self.chance.choice(NAMES)
        steps: tuple[tuple[int, Callable[[], None]], ...] = (
            (5, self.add),
            (3, self.edit_source),
            (2, self.edit_copy),
            (1, self.delete_copy),
            (3, self.add_foreign),
            (2, lambda: self.command("update", "--yes", *scope)),
            (2, lambda: self.command("sync", *scope)),
            (1, lambda: self.command("sync", "--agent", "claude-code", *scope)),
            (2, lambda: self.command("verify", *scope)),
            (3, lambda: self.remove(name, scope)),
        )
        weights, actions = zip(*steps, strict=True)
        (action,) = self.chance.choices(actions, weights)
        action()

    def remove(self, name: str, scope: tuple[str, ...]) -> None:
        backup = self.chance.choice(((), ("--backup",)))
        self.command("remove", name, *backup, *scope)

    def end(self) -> None:
        """Remove every skill: nothing of skillyard's is left."""
        for scope in ((), ("--global",)):
            for name in NAMES:
                self.command("remove", name, "--backup", *scope)
        assert not self.written, f"{sorted(self.written)} is left"


def _tree(root: Path) -> Iterator[tuple[str, tuple[str, int]]]:
    for above, folders, files in os.walk(root):
        for name in (*files, *folders):
            path = os.path.join(above, name)
            if os.path.islink(path):
                yield path, (os.readlink(path), 0)
            elif name in files and name not in LOCKS:
                yield path, (Path(path).read_text(), os.stat(path).st_mode)


def _backups(place: str) -> list[str]:
    into, name = os.path.split(place)
    found = Path(f"{into}-kept").glob(f"{name}*")
    return [str(each) for each in found]


@requirement("safety:installed:ownership")
@pytest.mark.parametrize(
    "first",
    [pytest.param(n, marks=[pytest.mark.slow] if n >= QUICK else []) for n in range(0, ALL, CHUNK)],
)
def test_no_sequence_of_commands_touches_what_is_the_users(
    first: int, run: Run, git_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(first, first + CHUNK):
        project, home = tmp_path / f"project-{seed}", tmp_path / f"home-{seed}"
        (project / ".git").mkdir(parents=True)
        home.mkdir()
        monkeypatch.chdir(project)
        for name in ("HOME", "USERPROFILE"):
            monkeypatch.setenv(name, str(home))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
        monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / f"state-{seed}"))
        world = World(run, project, home, random.Random(seed))
        try:
            for _ in range(STEPS):
                world.act()
            world.end()
        except AssertionError as error:
            steps = "\n".join(world.steps)
            raise AssertionError(f"seed {seed}: {error}\n{steps}") from error
        shutil.rmtree(project)
        shutil.rmtree(home)
