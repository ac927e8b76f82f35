"""One grammar: parser, help and completion say the same, and every word of it has help."""

from __future__ import annotations

import os
import shutil
import subprocess
from argparse import Action
from importlib import import_module
from pathlib import Path

import pytest

from skillyard.cli.commands import MODULES, SUMMARIES
from skillyard.cli.grammar import (
    CommandParser,
    command_parsers,
    commands_below,
    parse,
    read_command,
)
from skillyard.cli.options import DECLARED, suggestions
from skillyard.engine.ranking.registry import BUILT_IN, DEFAULT_SCORER
from tests.cli.conftest import Run
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import document


def label(option: Action) -> str:
    """Return the flag of an option, the name of a positional argument."""
    return option.option_strings[-1] if option.option_strings else str(option.metavar)


SHELLS = ("bash", "zsh", "fish")
COMMANDS = command_parsers()
NAMES = [command.name for command in COMMANDS]


@requirement("cli:help")
@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_every_command_and_every_option_has_help(command: CommandParser, run: Run) -> None:
    page = run(*command.words, "--help")
    assert (page.code, page.err) == (0, "")
    text = " ".join(page.out.split())
    assert command.summary
    assert command.examples
    options = [option for option in command._actions if option.dest != "help"]
    assert {"color", "quiet"} < {option.dest for option in options}
    for option in options:
        assert label(option) in page.out
        assert str(option.help).split()[0] in text
    for example in command.examples:
        assert example in page.out
    assert run("help", *command.words) == page


@requirement("cli:help")
@pytest.mark.parametrize("group", SUMMARIES)
def test_a_group_of_commands_explains_itself_and_asks_for_one(group: str, run: Run) -> None:
    words, names = group.split(), commands_below(*group.split())
    page = run(*words, "--help")
    assert (page.code, page.err) == (0, "")
    assert run("help", *words) == run("--help", *words) == page
    for name in names:
        assert f"\n  {name} " in page.out
    alone = run(*words)
    assert (alone.code, alone.out) == (2, "")
    assert alone.err.startswith(page.out)
    assert f"name one of its commands: {', '.join(names)}; as in: " in alone.err


def test_the_table_of_commands_has_every_command_of_every_module() -> None:
    for name in set(MODULES.values()):
        import_module(f"skillyard.cli.commands.{name}")
    assert {*DECLARED, "eval"} == set(MODULES)


def test_without_a_command_the_help_goes_to_standard_error_and_names_a_first_step(
    run: Run,
) -> None:
    page = run("--help")
    assert (page.code, page.err) == (0, "")
    assert run("help") == run("-h") == page
    for command in COMMANDS:
        assert f"\n  {command.words[0]} " in page.out
    alone = run()
    assert (alone.code, alone.out) == (2, "")
    assert alone.err.startswith(page.out)
    assert alone.err.endswith("skillyard: name a command, as in: skillyard list\n")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (
            "bnech run",
            "skillyard: no command 'bnech'; did you mean bench?\n  try: skillyard --help",
        ),
        (
            "index stats",
            (
                "skillyard index: no command 'index stats'; did you mean status?\n"
                "  try: skillyard index --help"
            ),
        ),
        (
            "index --json build",
            (
                "skillyard index: name one of its commands: build, status, verify; "
                "as in: skillyard index build\n  try: skillyard index --help"
            ),
        ),
        (
            "help bnech",
            "skillyard: no command 'bnech'; did you mean bench?\n  try: skillyard --help",
        ),
        (
            "rank x --limt 3",
            "skillyard rank: no option --limt; did you mean --limit?\n  try: skillyard rank --help",
        ),
        (
            "--jsn rank x",
            (
                "skillyard: no option --jsn before the command; did you mean --json?; "
                "options of a command go after it\n  try: skillyard --help"
            ),
        ),
        (
            "show a b",
            (
                "skillyard show: one argument too many: 'b'; quote words that belong together\n"
                "  try: skillyard show --help"
            ),
        ),
    ],
)
def test_wrong_use_says_what_to_type_instead(typed: str, message: str, run: Run) -> None:
    answer = run(*typed.split())
    assert (answer.code, answer.out, answer.err) == (2, "", f"{message}\n")


def test_the_help_names_the_default_scorer_and_the_known_words() -> None:
    options = {label(option): option for command in COMMANDS for option in command.arguments}
    assert f"(default: {DEFAULT_SCORER})" in str(options["--scorer"].help)


def test_shared_options_are_understood_before_and_after_the_command(run: Run, skills: Path) -> None:
    before = run("--json", "--root", "skills", "list")
    assert before.code == 0
    assert before.out == run("list", "--root", "skills", "--json").out
    assert before.out == run("--root=skills", "list", "--json").out
    both = run("--root", "skills/csv-cleaning", "list", "--root", "skills/git-bisect", "--json")
    assert sorted(card["name"] for card in both.json["skills"]) == ["csv-cleaning", "git-bisect"]


def test_words_and_options_may_be_mixed() -> None:
    before, after = ["--root", "a", "rank", "fix", "the"], ["test", "-", "--root", "b", "-1"]
    _, args = parse([*before, "--limit", "3", "--files", "a", "--files=b", *after])
    assert args.query == ["fix", "the", "test", "-", "-1"]
    assert (args.limit, args.files, args.root) == (3, ["a", "b"], ["a", "b"])


@for_each(
    "given",
    [
        "", "nosuch", "bench", "rank --help", "--version", "rank x --limit", "rank x --limit y",
        "rank x --limit -3", "rank x --nosuch", "show", "show a b", "list --json=yes",
        "list --color sometimes", "--color sometimes list", "bench run --skills s",
        "evaluate --threshold nan", "--root",
    ],
)  # fmt: skip
def test_what_runs_no_command_is_read_as_none(
    given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert read_command(given.split()) is None
    assert capsys.readouterr() == ("", "")


def test_words_need_no_quotes_and_may_come_from_standard_input(
    run: Run, skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    quoted = run("rank", "broke the build", "--root", "skills")
    assert run("rank", "broke", "the", "build", "--root", "skills").out == quoted.out
    monkeypatch.setattr("sys.stdin", io.StringIO("broke the build"))
    assert run("rank", "-", "--root", "skills").out == quoted.out


def test_the_version_is_that_of_the_package(run: Run) -> None:
    import skillyard

    assert run("--version").out == f"skillyard {skillyard.__version__}\n"
    assert run("--version", "list") == run("-V") == run("--version")


def test_options_are_not_abbreviated_so_that_new_ones_break_no_script(run: Run) -> None:
    assert run("list", "--js").code == 2


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_knows_every_command_and_every_option(shell: str, run: Run) -> None:
    text = run("completion", shell).out
    for command in COMMANDS:
        assert all(word in text for word in command.words)
        for option in command.arguments:
            if option.option_strings:
                assert label(option).removeprefix("--") in text
            assert all(word in text for word in suggestions(option))


@for_each("shell", SHELLS)
def test_the_completion_script_is_correct_for_its_shell(
    shell: str, run: Run, tmp_path: Path
) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "script"
    path.write_text(run("completion", shell).out, encoding="utf-8")
    done = subprocess.run([program, "-n", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@for_each(
    ("typed", "offered"),
    [
        (["se"], {"search", "select", "serve", "setup"}),
        (["--root", "x", "ra"], {"rank"}),
        (["bench", ""], {"compare", "run", "score"}),
        (["bench", "run", "--q"], {"--queries", "--quiet"}),
        (["rank", "--scorer", ""], set(BUILT_IN)),
        (["rank", "words", "--color", "a"], {"auto", "always"}),
        (["completion", "f"], {"fish"}),
        (["why", "csv"], {"csv-cleaning"}),
    ],
)
def test_bash_completes_what_is_typed(
    typed: list[str], offered: set[str], run: Run, tmp_path: Path
) -> None:
    program = shutil.which("bash")
    if program is None:
        pytest.skip("bash is not installed")
    path = tmp_path / "script"
    path.write_text(
        f'{run("completion", "bash").out}COMP_WORDS=(skillyard "$@"); COMP_CWORD=$#\n'
        "_shtab_skillyard; printf '%s\\n' \"${COMPREPLY[@]}\"\n",
        encoding="utf-8",
    )
    program_path = tmp_path / "skillyard"
    program_path.write_text("#!/bin/sh\necho csv-cleaning; echo pdf\n", encoding="utf-8")
    program_path.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [program, "--norc", str(path), *typed],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    assert set(done.stdout.split()) == offered


def test_skills_are_completed_where_a_skill_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {"csv-cleaning": "csv-cleaning", "hostile": "$(touch x)", "plugin": "team:deploy"}
    for folder, name in names.items():
        (tmp_path / folder).mkdir()
        text = document(name, "Cleans.")
        (tmp_path / folder / "SKILL.md").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    answer = run("completion", "skills")
    assert answer.out.split() == ["csv-cleaning", "team:deploy"]  # bash evaluates what it offers
    for shell in SHELLS:
        text = run("completion", shell).out
        uses = [line for line in text.splitlines() if "completion skills" in line]
        assert uses
        assert not any(f" {word} " in line for line in uses for word in ("add", "new"))


def test_the_help_of_a_question_ends_in_one_mark(run: Run) -> None:
    text = " ".join(run("eval", "run", "size-impact", "--help").out.split())
    assert "and than nothing? Model answers" in text


def test_earlier_spellings_of_eval_work_and_no_list_names_them(run: Run) -> None:
    listed = {"init", "plan", "run", "report", "compare"}
    earlier = {"activation", "confusion", "effectiveness", "size-impact"}
    assert set(commands_below("eval")) == listed
    for layer in earlier:
        page = run("eval", layer, "--help")
        assert (page.code, page.err) == (0, "")
        same = run("eval", "run", layer, "--help").out
        assert page.out.split("options:")[1] == same.split("options:")[1]
    text = run("eval", "--help").out
    assert not any(f"\n  {name} " in text for name in {*earlier, "baseline", "validate-rubrics"})
    assert "validate-rubrics" not in run("eval", "validate").err.splitlines()[0]


def test_an_effect_off_the_scale_is_wrong_use(run: Run) -> None:
    done = run("eval", "plan", "--effect", "4.1")
    assert done.code == 2
    assert "effect must be 0 to 4" in done.err
    assert run("eval", "plan", "--effect", "4").code == 0


def test_what_is_typed_most_has_a_short_form(run: Run, skills: Path) -> None:
    assert run("ls", "-C", "skills") == run("list", "--root", "skills")
    short = run("rank", "csv", "-C", "skills", "-n", "1", "-s", "overlap", "-q", "--json")
    whole = ("--root", "skills", "--limit", "1", "--scorer", "overlap", "--quiet", "--json")
    assert short == run("rank", "csv", *whole)
    assert len(short.json["matches"]) == 1
