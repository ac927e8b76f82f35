"""``fake-llm``: a stand-in for a model."""

from __future__ import annotations

from argparse import Namespace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.options import whole_number
from skillyard.cli.parser import add_command
from skillyard.errors import InvalidInput

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands


def add_fake_llm_command(commands: Commands) -> None:
    """Declare ``fake-llm``."""
    parser = add_command(
        commands,
        "fake-llm",
        "run a fake model server, to try evaluations without a key",
        run=fake_llm,
        about=(
            "Serves both APIs on this machine only, and prints the variables to set; any "
            "text is a valid key. Its answers say nothing about any model or skill, and "
            "every result made with it says so. The server comes with the package "
            "skillyard-testkit."
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
    """Serve until interrupted or terminated. Raises InvalidInput without the testkit."""
    import sys

    from skillyard.cli.interrupts import stop_on_interrupt

    if find_spec("skillyard_testkit") is None:
        raise InvalidInput(
            "fake-llm is part of skillyard-testkit, which is not installed:"
            " pip install skillyard-testkit"
        )
    from skillyard_testkit.fake_llm.__main__ import serve

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
