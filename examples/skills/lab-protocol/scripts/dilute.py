#!/usr/bin/env python3
"""Compute dilutions, serial dilutions and master mixes for the bench.

Prints one JSON document; volumes come out in microlitres.
Exit status: 0 done, 1 possible on paper but not at the bench (see "warnings"), 2 wrong use.
"""

from __future__ import annotations

import argparse
import json
import re
import sys

MOLAR = {"M": 1.0, "mM": 1e-3, "uM": 1e-6, "nM": 1e-9, "pM": 1e-12}
MASS = {"g/L": 1.0, "mg/mL": 1.0, "ug/mL": 1e-3, "ng/uL": 1e-3, "ng/mL": 1e-6}
OTHER = {"x": 1.0, "%": 1.0}
VOLUME = {"L": 1e6, "mL": 1e3, "uL": 1.0, "nL": 1e-3}
QUANTITY = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?([A-Za-z%/]{1,6})")
SMALLEST_PIPETTED_UL = 1.0
MAX_STEPS = 24


class BadQuantity(ValueError):
    """A quantity that cannot be read, or units that do not fit together."""


def split(text: str) -> tuple[float, str]:
    """Part a quantity into number and unit; a micro sign counts as u.

    >>> split("2.5 \u00b5L")
    (2.5, 'uL')
    """
    match = QUANTITY.fullmatch(text.strip().replace("\u00b5", "u").replace("\u03bc", "u"))
    if not match:
        raise BadQuantity(f"{text!r}: a number and a unit are needed, such as '5 mM' or '20 uL'")
    return float(match.group(1)), match.group(2)


def read(text: str, *tables: dict[str, float]) -> tuple[float, int]:
    """Return the value in the table's base unit and the number of the table that knew the unit.

    >>> read("5 mM", MOLAR)
    (0.005, 0)
    """
    value, unit = split(text)
    for position, table in enumerate(tables):
        if unit in table:
            return value * table[unit], position
    known = ", ".join(unit for table in tables for unit in table)
    raise BadQuantity(f"{text!r}: the unit must be one of {known}")


def warn_small(volumes: dict[str, float]) -> list[str]:
    """Name every volume that a pipette does not deliver well."""
    return [
        f"{name}: {volume:g} uL is below {SMALLEST_PIPETTED_UL:g} uL, go through an intermediate"
        for name, volume in volumes.items()
        if 0 < volume < SMALLEST_PIPETTED_UL
    ]


def simple(stock: str, target: str, volume: str) -> dict[str, object]:
    """C1 V1 = C2 V2.

    >>> simple("10 mM", "50 uM", "2 mL")["stock_ul"]
    10.0
    """
    c_stock, kind = read(stock, MOLAR, MASS, OTHER)
    c_target, kind_target = read(target, MOLAR, MASS, OTHER)
    if kind != kind_target:
        raise BadQuantity("molar and mass concentrations do not mix: convert by molar mass first")
    if not 0 < c_target <= c_stock:
        raise BadQuantity("the target must be above zero and not above the stock")
    total, _ = read(volume, VOLUME)
    part = total * c_target / c_stock
    volumes = {"stock_ul": round(part, 4), "diluent_ul": round(total - part, 4)}
    return {**volumes, "fold": round(c_stock / c_target, 4), "warnings": warn_small(volumes)}


def serial(factor: float, steps: int, volume: str, top: str) -> dict[str, object]:
    """Equal steps; every tube keeps ``volume`` after the next one was taken from it.

    >>> result = serial(10, 3, "900 uL", "1 mM")
    >>> result["transfer_ul"], result["concentrations"], result["unit"]
    (100.0, [1.0, 0.1, 0.01, 0.001], 'mM')
    """
    if factor <= 1 or not 1 <= steps <= MAX_STEPS:
        raise BadQuantity(f"the factor must be above 1 and steps 1 to {MAX_STEPS}")
    keep, _ = read(volume, VOLUME)
    start, unit = split(top)
    # Keeping v after handing on t means making v + t, of which t came from above: t = (v + t) / f.
    transfer = keep / (factor - 1)
    volumes = {"transfer_ul": round(transfer, 4), "diluent_ul": round(keep, 4)}
    return {
        **volumes,
        "concentrations": [float(f"{start / factor**n:.6g}") for n in range(steps + 1)],
        "unit": unit,
        "discard_from_last_ul": volumes["transfer_ul"],
        "warnings": warn_small(volumes),
    }


def mix(parts: list[str], reactions: int, overage: float) -> dict[str, object]:
    """Scale one reaction to many, with some to spare.

    >>> mix(["buffer=2 uL", "enzyme=0.2 uL"], 10, 10)["volumes_ul"]
    {'buffer': 22.0, 'enzyme': 2.2}
    """
    if not 1 <= reactions <= 10_000 or not 0 <= overage <= 50:
        raise BadQuantity("reactions must be 1 to 10000 and the overage 0 to 50 percent")
    volumes: dict[str, float] = {}
    for part in parts:
        name, equals, amount = part.partition("=")
        if not equals or not name or name in volumes:
            raise BadQuantity(f"{part!r}: NAME=VOLUME is needed, each name once")
        volumes[name] = round(read(amount, VOLUME)[0] * reactions * (1 + overage / 100), 4)
    each = sum(volumes.values()) / (reactions * (1 + overage / 100))
    return {
        "volumes_ul": volumes,
        "dispense_each_ul": round(each, 4),
        "warnings": warn_small(volumes),
    }


def build_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("simple", help="one dilution: STOCK TARGET VOLUME")
    one.add_argument("stock")
    one.add_argument("target")
    one.add_argument("volume")
    many = commands.add_parser("serial", help="serial dilution: FACTOR STEPS VOLUME --top CONC")
    many.add_argument("factor", type=float)
    many.add_argument("steps", type=int)
    many.add_argument("volume", help="volume that stays in each tube")
    many.add_argument("--top", required=True, help="concentration of the undiluted tube")
    master = commands.add_parser("mix", help="master mix: NAME=VOLUME ... --reactions N")
    master.add_argument("parts", nargs="+")
    master.add_argument("--reactions", type=int, required=True)
    master.add_argument("--overage", type=float, default=10.0, help="percent (default 10)")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, print the answer as JSON, return the exit status."""
    options = build_parser().parse_args(arguments)
    try:
        if options.command == "simple":
            answer = simple(options.stock, options.target, options.volume)
        elif options.command == "serial":
            answer = serial(options.factor, options.steps, options.volume, options.top)
        else:
            answer = mix(options.parts, options.reactions, options.overage)
    except BadQuantity as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(answer, indent=1))
    return 1 if answer["warnings"] else 0


if __name__ == "__main__":
    sys.exit(main())
