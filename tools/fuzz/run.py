"""Feed random input to everything that reads what strangers write: `make fuzz`.

    python tools/fuzz/run.py [--seconds 600] [--seed N] [--only TARGET]…

The targets are the reader of skill files, the reader of archives, the MCP server over standard
input, the prompt hook, and the HTTP service (schemathesis, by its own OpenAPI document). Each has
its share of the time. A fault is anything that the target does not promise; its input is kept in
``runs/fuzz/`` and the seed is printed. Ends with 1 when there was one. Runs in the environment of
``tools/venv FOLDER fuzz``.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import http_service  # noqa: E402 - beside this file
import targets  # noqa: E402

KEPT = ROOT / "runs" / "fuzz"
MAX_FAULTS = 20
"""Faults of one target after which it is left."""


def fuzz(target: targets.Target, seconds: float, seed: int) -> tuple[int, int]:
    """Run one target for so long; return how many inputs there were and how many faults."""
    source = random.Random(f"{seed}-{target.name}")
    inputs = faults = 0
    end = time.monotonic() + seconds
    with target.ready() as check:
        while time.monotonic() < end and faults < MAX_FAULTS:
            data = target.make(source)
            inputs += 1
            try:
                check(data)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                faults += 1
                KEPT.mkdir(parents=True, exist_ok=True)
                file = KEPT / f"{target.name}-{seed}-{inputs}"
                file.write_bytes(data)
                traceback.print_exc()
                print(f"fuzz: {target.name}: {file}", file=sys.stderr)
    return inputs, faults


def main() -> int:
    """Run the targets that are asked for, one after the other."""
    names = [*(target.name for target in targets.TARGETS), http_service.NAME]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="for all targets together")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", action="append", choices=names, metavar="TARGET")
    options = parser.parse_args()
    seed = secrets.randbelow(1 << 30) if options.seed is None else options.seed
    chosen = options.only or names
    share = options.seconds / len(chosen)
    worst = 0
    for target in targets.TARGETS:
        if target.name in chosen:
            inputs, faults = fuzz(target, share, seed)
            print(
                f"fuzz: {target.name}: {inputs:,} inputs, {faults} faults, seed {seed}", flush=True
            )
            worst = max(worst, faults)
    if http_service.NAME in chosen:
        worst = max(worst, http_service.fuzz(share, seed))
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
