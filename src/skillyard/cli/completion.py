"""Completion scripts for bash, zsh and fish, generated from the parsers of the commands.

Nothing runs while a user types: the words are in the script. Names of skills are not offered, since
that would read the library at every key press.
"""

from __future__ import annotations

from argparse import Action
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from skillyard.cli.grammar import PROGRAM, build_parser, command_parsers, shared_options
from skillyard.cli.options import (
    file_path,
    folder,
    help_text,
    label,
    repeats,
    suggestions,
    takes_value,
)
from skillyard.cli.parser import CommandParser

__all__ = ["script"]


def script(shell: str) -> str:
    """Return the completion script of a shell: bash, zsh or fish."""
    first = build_parser().children()
    grammar = _Grammar(
        first,
        {word: list(parser.children()) for word, parser in first.items() if parser.children()},
        command_parsers(),
        shared_options(),
    )
    return "\n".join(_WRITERS[shell](grammar)) + "\n"


class _Grammar(NamedTuple):
    """What may be typed."""

    first: dict[str, CommandParser]
    """By the first word: a command, or a group of commands."""
    groups: dict[str, list[str]]
    """The second words of a group."""
    commands: list[CommandParser]
    shared: list[Action]
    """The options of every command."""


def _flags(actions: Iterable[Action]) -> list[str]:
    return [label(action) for action in actions if action.option_strings]


def _summary(parser: CommandParser) -> str:
    """Return what a first word is for; for one with words below it, those."""
    return ", ".join(parser.children()) or parser.summary


def _arguments(command: CommandParser) -> list[str]:
    """Return the words that a command's positional arguments may be."""
    positional = [action for action in command.arguments if not action.option_strings]
    return [word for action in positional for word in suggestions(action)]


def _takes_paths(command: CommandParser) -> bool:
    return any(
        action.type in (file_path, folder)
        for action in command.arguments
        if not action.option_strings
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _bash(grammar: _Grammar) -> Iterator[str]:
    yield f'# bash completion of {PROGRAM}; load it with: eval "$({PROGRAM} completion bash)"'
    yield f"_{PROGRAM}() {{"
    yield '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"'
    yield '    local command="" place=1 words=""'
    yield "    while [ $place -lt $COMP_CWORD ]; do"
    yield '        case "${COMP_WORDS[place]}" in'
    valued = [label(option) for option in grammar.shared if takes_value(option)]
    yield f"            {'|'.join(valued)}) place=$((place + 1)) ;;"
    yield "            -*) ;;"
    yield '            *) command="${COMP_WORDS[place]}"; break ;;'
    yield "        esac"
    yield "        place=$((place + 1))"
    yield "    done"
    yield '    case "$command" in'
    for word in grammar.groups:
        yield f"        {word}) [ $((place + 1)) -lt $COMP_CWORD ] &&"
        yield f'            command="{word} ${{COMP_WORDS[place+1]}}" ;;'
    yield "    esac"
    yield '    case "$command:$before" in'
    yield from _bash_values(grammar)
    yield "    esac"
    yield '    case "$command" in'
    shared = " ".join(_flags(grammar.shared))
    first = " ".join([*grammar.first, shared, "--help", "--version"])
    yield f"        '') words={_quoted(first)} ;;"
    for word, seconds in grammar.groups.items():
        yield f"        {word}) words={_quoted(' '.join(seconds))} ;;"
    for command in grammar.commands:
        words = [*_arguments(command), *_flags(command.arguments), shared, "--help"]
        files = ' COMPREPLY=($(compgen -f -- "$word"));' if _takes_paths(command) else ""
        yield f"        {_quoted(command.name)}) words={_quoted(' '.join(words))};{files} ;;"
    yield "    esac"
    yield '    COMPREPLY+=($(compgen -W "$words" -- "$word"))'
    yield "}"
    yield f"complete -o filenames -F _{PROGRAM} {PROGRAM}"


def _bash_values(grammar: _Grammar) -> Iterator[str]:
    """Yield what follows an option that takes a value, for every command."""
    for command in grammar.commands:
        for option in command.arguments:
            if option.option_strings and takes_value(option):
                typed = _quoted(f"{command.name}:{label(option)}")
                yield f"        {typed}) {_bash_value(option)}; return ;;"
    for option in grammar.shared:
        if takes_value(option):
            yield f"        *:{label(option)}) {_bash_value(option)}; return ;;"


def _bash_value(option: Action) -> str:
    words = " ".join(suggestions(option))
    if words:
        return f'COMPREPLY=($(compgen -W {_quoted(words)} -- "$word"))'
    if option.type is folder:
        return 'COMPREPLY=($(compgen -d -- "$word"))'
    return 'COMPREPLY=($(compgen -f -- "$word"))' if option.type is file_path else ":"


def _zsh(grammar: _Grammar) -> Iterator[str]:
    yield f"#compdef {PROGRAM}"
    yield f'# zsh completion of {PROGRAM}; load it with: eval "$({PROGRAM} completion zsh)"'
    yield f"_{PROGRAM}() {{"
    yield '    local curcontext="$curcontext" state line'
    yield "    typeset -A opt_args"
    yield "    local -a shared; shared=("
    for option in grammar.shared:
        yield f"        {_zsh_option(option)}"
    yield "        '(- *)'{-h,--help}'[show the help page]'"
    yield "    )"
    yield "    shared+=('(- *)--version[print the version]')"
    yield "    _arguments -C $shared '1: :->command' '*:: :->rest'"
    yield "    shared[-1]=()"
    yield '    case "$state" in'
    yield "        command) local -a commands; commands=("
    for word, parser in grammar.first.items():
        yield f"            {_quoted(f'{word}:{_zsh_text(_summary(parser))}')}"
    yield "        ); _describe command commands ;;"
    yield "        rest)"
    for word in grammar.groups:
        yield f"            [[ $words[1] == {word} && -n $words[2] && $CURRENT -gt 2 ]] && {{"
        yield f'                words[1]="{word} $words[2]"; words[2]=(); (( CURRENT-- ))'
        yield "            }"
    yield '            case "$words[1]" in'
    for word, seconds in grammar.groups.items():
        yield f"                {word}) _values subcommand {' '.join(seconds)} ;;"
    for command in grammar.commands:
        options = " ".join(_zsh_option(option) for option in command.arguments)
        yield f"                {_quoted(command.name)}) _arguments $shared {options} ;;"
    yield "            esac ;;"
    yield "    esac"
    yield "}"
    yield f'if [ "$funcstack[1]" = _{PROGRAM} ]; then _{PROGRAM} "$@"'
    yield f"else compdef _{PROGRAM} {PROGRAM}; fi"


def _zsh_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace(":", "\\:").replace("[", "\\[").replace("]", "\\]")


def _zsh_option(option: Action) -> str:
    what = _zsh_action(option)
    name = str(option.metavar).lower()
    if not option.option_strings:
        mark = {"*": "*", "?": ":"}.get(str(option.nargs), "")
        return _quoted(f"{mark}:{name}:{what}")
    again = "*" if repeats(option) else ""
    value = f":{name}:{what}" if takes_value(option) else ""
    return _quoted(f"{again}{label(option)}[{_zsh_text(help_text(option))}]{value}")


def _zsh_action(option: Action) -> str:
    words = " ".join(suggestions(option))
    if words:
        return f"({words})"
    if option.type is folder:
        return "_files -/"
    return "_files" if option.type is file_path else " "


def _fish(grammar: _Grammar) -> Iterator[str]:
    yield f"# fish completion of {PROGRAM}; load it with: {PROGRAM} completion fish | source"
    yield f"complete -c {PROGRAM} -f"
    known = " ".join(grammar.first)
    for option in grammar.shared:
        yield _fish_option(option, "")
    yield f"complete -c {PROGRAM} -s h -l help -d 'show the help page'"
    none = f"not __fish_seen_subcommand_from {known}"
    yield f"complete -c {PROGRAM} -n {_quoted(none)} -l version -d 'print the version'"
    for command in grammar.commands:
        if len(command.words) == 1:
            yield _fish_word(command.words[0], command.summary, none)
    for word, names in grammar.groups.items():
        seconds = " ".join(names)
        yield _fish_word(word, _summary(grammar.first[word]), none)
        inside = (
            f"__fish_seen_subcommand_from {word}; and not __fish_seen_subcommand_from {seconds}"
        )
        for command in grammar.commands:
            if command.words[0] == word:
                yield _fish_word(command.words[1], command.summary, inside)
    for command in grammar.commands:
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.words)
        for option in command.arguments:
            yield _fish_option(option, seen)


def _fish_word(word: str, text: str, when: str) -> str:
    return f"complete -c {PROGRAM} -n {_quoted(when)} -a {word} -d {_fish_text(text)}"


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish_option(option: Action, when: str) -> str:
    parts = [f"complete -c {PROGRAM}"]
    parts += [f"-n {_quoted(when)}"] if when else []
    words = " ".join(suggestions(option))
    if not option.option_strings:
        files = "-F" if option.type in (file_path, folder) else "-f"
        return f"{' '.join(parts)} {f'-a {_quoted(words)}' if words else files}"
    parts.append(f"-l {label(option).removeprefix('--')} -d {_fish_text(help_text(option))}")
    if takes_value(option):
        parts.append("-r")
        if words:
            parts.append(f"-f -a {_quoted(words)}")
        elif option.type is folder:
            parts.append("-a '(__fish_complete_directories)'")
        else:
            parts.append("-F" if option.type is file_path else "-f")
    return " ".join(parts)


_WRITERS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
