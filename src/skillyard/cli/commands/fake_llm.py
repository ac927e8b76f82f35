"""``fake-llm``: a stand-in for a model."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.options import whole_number
from skillyard.cli.parser import add_command

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands


def add_fake_llm_command(commands: Commands) -> None:
    """Declare ``fake-llm``."""
    parser = add_command(
        commands,
        "fake-llm",
        "run a stand-in for a model server, to try evaluations without a key",
        run=fake_llm,
        about=(
            "Serves both APIs on this machine only, and prints the variables to set; any "
            "text is a valid key. Its answers say nothing about any model or skill, and "
            "every result made with it says so."
        ),
        examples=("skillyard fake-llm", "skillyard fake-llm --latency-ms 50 --fault 529=3"),
    )
    parser.add_argument(
        "--behaviour",
        metavar="NAME",
        choices=("honest", "slot-b", "longer", "obedient"),
        default="honest",
        help="how it judges (default: honest)",
    )
    parser.add_argument(
        "--latency-ms", metavar="N", type=whole_number, help="delay before every answer"
    )
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="NAME",
        help=(
            "fail the next request this way, or the next N (NAME=N), or all (NAME=always); "
            "may repeat"
        ),
    )


def fake_llm(args: Namespace, console: Console) -> int:
    """Serve until interrupted or terminated."""
    import sys

    from skillyard.cli.interrupts import stop_on_interrupt
    from skillyard.standin.fake_llm.__main__ import serve

    arguments = ["--behaviour", args.behaviour]
    if args.latency_ms is not None:
        arguments += ["--latency-ms", str(args.latency_ms)]
    for fault in args.fault:
        arguments += ["--fault", fault]
    with stop_on_interrupt() as stop:
        try:
            return serve(arguments, sys.stdout, sys.stderr, stop, prog="skillyard fake-llm")
        except KeyboardInterrupt:
            return 0


COMMANDS = {"fake-llm": add_fake_llm_command}
