"""One run of the command line: parse, run, and turn every outcome into an exit code.

A reader that closes the pipe (``| head``) is not an error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stdout
from typing import TYPE_CHECKING, Any

from skillyard.base.errors import SkillError, SkillNotFound, SkillyardError
from skillyard.cli.console import Console, complain
from skillyard.cli.exit_codes import INTERRUPTED, UNREACHED, WRONG_USE
from skillyard.cli.grammar import UsageError, parse
from skillyard.cli.options import read_request

if TYPE_CHECKING:
    from skillyard.cli.options import RunCommand


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; the arguments default to the process's own.

    Every error is a line on standard error.
    """
    with ExitStack() as stack:
        if sys.stdout is None:  # closed by the caller: `>&-`
            nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
            stack.enter_context(redirect_stdout(nowhere))
        try:
            code = _run(sys.argv[1:] if argv is None else argv) or 0
        except BrokenPipeError:
            code = 0
        except KeyboardInterrupt:
            complain("skillyard: interrupted")
            code = INTERRUPTED
        except UsageError as error:
            complain(str(error))
            code = WRONG_USE
        except SkillyardError as error:
            code = _report_refusal(error)
        except OSError as error:
            code = _report_write_error(error)
        except Exception as error:  # noqa: BLE001 - the one place where a bug must not end in a trace
            code = _report_bug(error)
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _drop_output()
            return 0
        except OSError as error:
            return _report_write_error(error)
        except ValueError:  # it was closed meanwhile
            pass
        return code


def _run(arguments: Sequence[str]) -> int | None:
    _prepare_output()
    try:
        parser, args = parse(arguments)
    except SystemExit:  # a help page or the version is printed
        return 0
    console = Console(json=args.json, color=args.color, quiet=args.quiet)
    run_command: RunCommand = args.run_command
    values: tuple[Any, ...] = (args, console)
    if parser.request is not None:
        values = (read_request(args, parser.request), *values)
    if parser.words[0] not in ("serve", "hook"):
        return run_command(*values)
    from skillyard.base.configuration import own_file_only

    with own_file_only():
        return run_command(*values)


def _prepare_output() -> None:
    """Make characters that an output encoding lacks come out as escapes instead of as an error.

    Pipes and files get UTF-8 and line feeds on Windows too, as the programs behind them expect.
    """
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None and os.linesep != "\n" and not sys.stdout.isatty():
        reconfigure(encoding="utf-8", newline="\n")
    encoding = getattr(sys.stdout, "encoding", None) or ""
    if reconfigure is not None and encoding.lower().replace("_", "-") != "utf-8":
        reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Redirect standard output to the null device, so that the interpreter's last flush works."""
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
    except (OSError, ValueError, AttributeError):
        pass


def _report_refusal(error: SkillyardError) -> int:
    if isinstance(error, SkillError):
        where = error.path + (f":{error.line}" if error.line is not None else "")
        message = f"{where}: {error.message}" if where else error.message
        hint = error.hint
        if isinstance(error, SkillNotFound) and not hint:
            hint = "skillyard list names every skill"
        complain(f"skillyard: {message}" + (f"; {hint}" if hint else ""))
    else:
        complain(f"skillyard: {error}")
    # If the module is not loaded, no source has failed.
    remote = sys.modules.get("skillyard.install.sources.protocol")
    if remote is not None and isinstance(error, remote.SourceFailed):
        return WRONG_USE if error.code == "not_found" else UNREACHED
    return WRONG_USE


def _report_write_error(error: OSError) -> int:
    _drop_output()
    complain(f"skillyard: {error.filename or 'output'}: {error.strerror or error}")
    return WRONG_USE


def _report_bug(error: Exception) -> int:
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "" if place is None else f" in {place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
    complain(
        f"skillyard: internal error ({type(error).__name__}: {error}{where}); please report it"
    )
    return WRONG_USE
