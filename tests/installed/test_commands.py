"""Every command of the grammar works where the wheel was installed, and nothing else is there."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

from skillyard.base.io.folder_manifest import manifest_of
from skillyard.install.copies.installed import LIMITS
from tests.installed.conftest import Installed
from tests.installed.drives import DRIVES, LONG_RUNNING, Drive
from tests.requirements import requirement

QUESTIONS = json.dumps(
    {"id": "q1", "query": "clean this csv file", "kind": "easy", "relevant": {"csv-cleaning": 2}}
)
COMMANDS = (
    "from skillyard.cli.grammar import command_parsers\n"
    "for each in command_parsers(): print(each.name)"
)


def faults(place: Installed, drive: Drive, settings: dict[str, str], extras: bool) -> list[str]:
    """Run one command; return what is wrong with what it left behind."""
    done = place.run("skillyard", *shlex.split(drive.line), stdin=drive.stdin, **settings)
    said = done.out + done.err
    code, shows = drive.code, drive.shows
    if drive.extra and not extras:
        code, shows = 2, f"[{drive.extra}"
    wrong = [f"ended with {done.code}, not {code}"] if done.code != code else []
    wrong += [f"does not show {shows!r}"] if shows not in said else []
    wrong += ["shows a traceback"] if "Traceback" in said or "internal error" in said else []
    return [f"skillyard {drive.line}: {'; '.join(wrong)}\n{said[-1500:]}"] if wrong else []


def pin_one(skill: Path, into: Path, lock: Path, version: int = 1) -> None:
    """Install a skill as ``add`` does, which needs an extra."""
    shutil.copytree(skill, into / skill.name)
    lock.parent.mkdir(exist_ok=True)
    entry = {
        "source": "demo/skills",
        "sourceType": "github",
        "skillPath": f"skills/{skill.name}/SKILL.md",
        "digest": manifest_of(str(skill), LIMITS).files_digest(),
    }
    shape = {"version": version, "skills": {skill.name: entry}}
    lock.write_text(json.dumps(shape), encoding="utf-8")


def drive_all(place: Installed, testkit: Installed, *, extras: bool) -> None:
    """Run every drive against fake servers of ``testkit``, then fail with all that was wrong."""
    (place.folder / "q.jsonl").write_text(QUESTIONS, encoding="utf-8")
    skills, pinned = place.folder / "examples" / "skills", place.folder / "pinned"
    pin_one(skills / "csv-cleaning", pinned, pinned / "skills-lock.json")
    user_lock = place.home / ".agents" / ".skill-lock.json"
    pin_one(skills / "git-bisect", place.home / ".claude" / "skills", user_lock, version=3)
    with testkit.remotes() as settings:
        with open(settings["SKILLYARD_CONFIG"], "a", encoding="utf-8") as file:
            file.write(f"[log]\nfile = '{place.folder / 'log.jsonl'}'\ntext = true\n")
        wrong = [line for drive in DRIVES for line in faults(place, drive, settings, extras)]
    assert not wrong, "\n".join(wrong)


@requirement("packages:every-command")
def test_every_command_of_the_grammar_is_driven(core: Installed) -> None:
    names = set(core.run("python", "-c", COMMANDS).out.splitlines())
    driven = {name for name in names for drive in DRIVES if f"{drive.line} ".startswith(f"{name} ")}
    assert names - driven == LONG_RUNNING


@requirement("packages:every-command")
def test_every_command_works_with_all_extras(complete: Installed) -> None:
    drive_all(complete, complete, extras=True)


@requirement("packages:every-command", "packages:core-alone")
def test_with_the_core_alone_a_command_works_or_names_the_extra_it_needs(
    core: Installed, complete: Installed
) -> None:
    drive_all(core, complete, extras=False)
