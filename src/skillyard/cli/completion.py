"""``completion``: scripts for bash, zsh and fish, generated from the grammar.

Nothing runs while a user types: the words are in the script. Names of skills are not offered, since
reading a folder on a key press is more than anybody asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from skillyard.cli.console import Console
from skillyard.cli.grammar import COMMANDS, GLOBAL, PROGRAM, Command, Option
from skillyard.cli.quick import Values

__all__ = ["completion", "script"]


def completion(values: Values, console: Console) -> int:
    """Print the script for one shell."""
    text = script(values.shell)
    if console.json:
        console.document(
            {"schema": "skillyard.completion/1", "shell": values.shell, "script": text}
        )
    else:
        console.write(text)
    return 0


def script(shell: str) -> str:
    """Return the completion script of a shell: bash, zsh or fish."""
    return "\n".join(_WRITERS[shell]()) + "\n"


def _flags(options: tuple[Option, ...]) -> list[str]:
    return [option.flag for option in options if not option.positional]


def _first_words() -> list[str]:
    return list(dict.fromkeys(command.words[0] for command in COMMANDS))


def _second_words(first: str) -> list[str]:
    return [command.words[1] for command in COMMANDS if command.words[:-1] == (first,)]


def _nested() -> list[str]:
    return [word for word in _first_words() if _second_words(word)]


def _help_of(word: str) -> str:
    """Return the help of a first word; for one with words below it, those."""
    below = _second_words(word)
    return ", ".join(below) or next(c.help for c in COMMANDS if c.words == (word,))


def _arguments(command: Command) -> list[str]:
    """Return the words that a command's arguments may be."""
    return [word for option in command.options if option.positional for word in option.choices]


def _folders(options: tuple[Option, ...]) -> bool:
    return any(option.positional and option.type in ("path", "folder") for option in options)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _bash() -> Iterator[str]:
    yield f'# bash completion of {PROGRAM}; load it with: eval "$({PROGRAM} completion bash)"'
    yield f"_{PROGRAM}() {{"
    yield '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"'
    yield '    local command="" place=1 words=""'
    yield "    while [ $place -lt $COMP_CWORD ]; do"
    yield '        case "${COMP_WORDS[place]}" in'
    valued = [option.flag for option in GLOBAL if option.kind != "flag"]
    yield f"            {'|'.join(valued)}) place=$((place + 1)) ;;"
    yield "            -*) ;;"
    yield '            *) command="${COMP_WORDS[place]}"; break ;;'
    yield "        esac"
    yield "        place=$((place + 1))"
    yield "    done"
    yield '    case "$command" in'
    for word in _nested():
        yield f"        {word}) [ $((place + 1)) -lt $COMP_CWORD ] &&"
        yield f'            command="{word} ${{COMP_WORDS[place+1]}}" ;;'
    yield "    esac"
    yield '    case "$command:$before" in'
    yield from _bash_values()
    yield "    esac"
    yield '    case "$command" in'
    globals_ = " ".join(_flags(GLOBAL))
    first = " ".join([*_first_words(), globals_, "--help", "--version"])
    yield f"        '') words={_quoted(first)} ;;"
    for word in _nested():
        yield f"        {word}) words={_quoted(' '.join(_second_words(word)))} ;;"
    for command in COMMANDS:
        words = [*_arguments(command), *_flags(command.options), globals_, "--help"]
        files = ' COMPREPLY=($(compgen -f -- "$word"));' if _folders(command.options) else ""
        yield f"        {_quoted(command.name)}) words={_quoted(' '.join(words))};{files} ;;"
    yield "    esac"
    yield '    COMPREPLY+=($(compgen -W "$words" -- "$word"))'
    yield "}"
    yield f"complete -o filenames -F _{PROGRAM} {PROGRAM}"


def _bash_values() -> Iterator[str]:
    """Yield what follows an option that takes a value, for every command."""
    for command in COMMANDS:
        for option in command.options:
            if not option.positional and option.kind != "flag":
                typed = _quoted(f"{command.name}:{option.flag}")
                yield f"        {typed}) {_bash_value(option)}; return ;;"
    for option in GLOBAL:
        if option.kind != "flag":
            yield f"        *:{option.flag}) {_bash_value(option)}; return ;;"


def _bash_value(option: Option) -> str:
    if option.choices:
        return f'COMPREPLY=($(compgen -W {_quoted(" ".join(option.choices))} -- "$word"))'
    if option.type == "folder":
        return 'COMPREPLY=($(compgen -d -- "$word"))'
    return 'COMPREPLY=($(compgen -f -- "$word"))' if option.type == "path" else ":"


def _zsh() -> Iterator[str]:
    yield f"#compdef {PROGRAM}"
    yield f'# zsh completion of {PROGRAM}; load it with: eval "$({PROGRAM} completion zsh)"'
    yield f"_{PROGRAM}() {{"
    yield '    local curcontext="$curcontext" state line'
    yield "    typeset -A opt_args"
    yield "    local -a shared; shared=("
    for option in GLOBAL:
        yield f"        {_zsh_option(option)}"
    yield "        '(- *)'{-h,--help}'[show the help page]'"
    yield "    )"
    yield "    shared+=('(- *)--version[print the version]')"
    yield "    _arguments -C $shared '1: :->command' '*:: :->rest'"
    yield "    shared[-1]=()"
    yield '    case "$state" in'
    yield "        command) local -a commands; commands=("
    for word in _first_words():
        yield f"            {_quoted(f'{word}:{_zsh_text(_help_of(word))}')}"
    yield "        ); _describe command commands ;;"
    yield "        rest)"
    for word in _nested():
        yield f"            [[ $words[1] == {word} && -n $words[2] && $CURRENT -gt 2 ]] && {{"
        yield f'                words[1]="{word} $words[2]"; words[2]=(); (( CURRENT-- ))'
        yield "            }"
    yield '            case "$words[1]" in'
    for word in _nested():
        yield f"                {word}) _values subcommand {' '.join(_second_words(word))} ;;"
    for command in COMMANDS:
        options = " ".join(_zsh_option(option) for option in command.options)
        yield f"                {_quoted(command.name)}) _arguments $shared {options} ;;"
    yield "            esac ;;"
    yield "    esac"
    yield "}"
    yield f'if [ "$funcstack[1]" = _{PROGRAM} ]; then _{PROGRAM} "$@"'
    yield f"else compdef _{PROGRAM} {PROGRAM}; fi"


def _zsh_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace(":", "\\:").replace("[", "\\[").replace("]", "\\]")


def _zsh_option(option: Option) -> str:
    what = _zsh_action(option)
    if option.positional:
        many = "*" if option.kind in ("words", "repeat") else ""
        maybe = ":" if option.kind == "maybe" else ""
        return _quoted(f"{many}{maybe}:{(option.metavar or option.flag).lower()}:{what}")
    again = "*" if option.kind == "repeat" else ""
    value = "" if option.kind == "flag" else f":{option.metavar.lower()}:{what}"
    return _quoted(f"{again}{option.flag}[{_zsh_text(option.help)}]{value}")


def _zsh_action(option: Option) -> str:
    if option.choices:
        return f"({' '.join(option.choices)})"
    return {"folder": "_files -/", "path": "_files"}.get(option.type, " ")


def _fish() -> Iterator[str]:
    yield f"# fish completion of {PROGRAM}; load it with: {PROGRAM} completion fish | source"
    yield f"complete -c {PROGRAM} -f"
    known = " ".join(_first_words())
    for option in GLOBAL:
        yield _fish_option(option, "")
    yield f"complete -c {PROGRAM} -s h -l help -d 'show the help page'"
    none = f"not __fish_seen_subcommand_from {known}"
    yield f"complete -c {PROGRAM} -n {_quoted(none)} -l version -d 'print the version'"
    for command in COMMANDS:
        if len(command.words) == 1:
            yield _fish_word(command.words[0], command.help, none)
    for word in _nested():
        seconds = " ".join(_second_words(word))
        yield _fish_word(word, _help_of(word), none)
        inside = (
            f"__fish_seen_subcommand_from {word}; and not __fish_seen_subcommand_from {seconds}"
        )
        for command in COMMANDS:
            if command.words[0] == word:
                yield _fish_word(command.words[1], command.help, inside)
    for command in COMMANDS:
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.words)
        for option in command.options:
            yield _fish_option(option, seen)


def _fish_word(word: str, text: str, when: str) -> str:
    return f"complete -c {PROGRAM} -n {_quoted(when)} -a {word} -d {_fish_text(text)}"


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish_option(option: Option, when: str) -> str:
    parts = [f"complete -c {PROGRAM}"]
    parts += [f"-n {_quoted(when)}"] if when else []
    if option.positional:
        if not option.choices:
            return f"{' '.join(parts)} {'-F' if option.type in ('path', 'folder') else '-f'}"
        return f"{' '.join(parts)} -a {_quoted(' '.join(option.choices))}"
    parts.append(f"-l {option.flag.removeprefix('--')} -d {_fish_text(option.help)}")
    if option.kind != "flag":
        parts.append("-r")
        if option.choices:
            parts.append(f"-f -a {_quoted(' '.join(option.choices))}")
        elif option.type == "folder":
            parts.append("-a '(__fish_complete_directories)'")
        elif option.type == "path":
            parts.append("-F")
        else:
            parts.append("-f")
    return " ".join(parts)


_WRITERS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
