#!/usr/bin/env python3
"""Count sowing and planting windows of common vegetables from the date of the last frost.

Prints one JSON document.
Exit status: 0 done, 1 some crop is not in the table, 2 wrong use.
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import date, timedelta
from typing import NamedTuple


class Weeks(NamedTuple):
    """First and last week relative to the last frost; negative is before it."""

    first: int
    last: int


class Crop(NamedTuple):
    """When a crop is sown inside, sown outside and planted out, and how long it takes."""

    inside: Weeks | None
    outside: Weeks | None
    plant_out: Weeks | None
    days_to_harvest: int


CROPS = {
    "basil": Crop(Weeks(-6, -3), None, Weeks(2, 5), 60),
    "bean": Crop(None, Weeks(1, 9), None, 60),
    "beet": Crop(None, Weeks(-4, 8), None, 65),
    "broccoli": Crop(Weeks(-8, -4), None, Weeks(-3, 2), 75),
    "carrot": Crop(None, Weeks(-6, 8), None, 80),
    "chard": Crop(None, Weeks(-3, 8), None, 55),
    "courgette": Crop(Weeks(-4, -2), Weeks(1, 4), Weeks(1, 4), 55),
    "cucumber": Crop(Weeks(-4, -2), Weeks(2, 5), Weeks(2, 5), 60),
    "kale": Crop(Weeks(-6, 2), Weeks(-2, 8), Weeks(0, 10), 70),
    "leek": Crop(Weeks(-12, -8), None, Weeks(-3, 4), 130),
    "lettuce": Crop(Weeks(-8, -4), Weeks(-4, 10), Weeks(-4, 8), 50),
    "onion": Crop(Weeks(-12, -8), Weeks(-6, -1), Weeks(-5, 0), 110),
    "pea": Crop(None, Weeks(-8, 0), None, 70),
    "pepper": Crop(Weeks(-10, -7), None, Weeks(2, 4), 80),
    "potato": Crop(None, Weeks(-4, 2), None, 100),
    "pumpkin": Crop(Weeks(-4, -2), Weeks(1, 3), Weeks(1, 4), 100),
    "radish": Crop(None, Weeks(-6, 14), None, 28),
    "spinach": Crop(None, Weeks(-8, -2), None, 45),
    "tomato": Crop(Weeks(-8, -5), None, Weeks(1, 4), 70),
}


def window(last_frost: date, weeks: Weeks | None) -> list[str] | None:
    """Turn weeks into two dates.

    >>> window(date(2025, 5, 12), Weeks(-8, -5))
    ['2025-03-17', '2025-04-07']
    """
    if weeks is None:
        return None
    return [(last_frost + timedelta(weeks=week)).isoformat() for week in weeks]


def dates(name: str, last_frost: date) -> dict[str, object]:
    """All windows of one crop.

    >>> dates("bean", date(2025, 5, 12))["first_harvest"]
    '2025-07-18'
    """
    crop = CROPS[name]
    start = crop.plant_out or crop.outside
    first = last_frost + timedelta(weeks=start.first if start else 0)
    return {
        "crop": name,
        "sow_inside": window(last_frost, crop.inside),
        "sow_outside": window(last_frost, crop.outside),
        "plant_out": window(last_frost, crop.plant_out),
        "first_harvest": (first + timedelta(days=crop.days_to_harvest)).isoformat(),
    }


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, print the windows as JSON, return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("crops", nargs="*", help="names in the singular, such as tomato bean")
    parser.add_argument("--last-frost", type=date.fromisoformat, help="YYYY-MM-DD")
    parser.add_argument("--list", action="store_true", help="print the known crops")
    options = parser.parse_args(arguments)
    if options.list:
        print(json.dumps(sorted(CROPS)))
        return 0
    if not options.last_frost or not options.crops:
        parser.error("--last-frost and at least one crop are needed")
    if not 1900 <= options.last_frost.year <= 2200:
        parser.error("--last-frost must lie between 1900 and 2200")
    wanted = [name.lower() for name in options.crops[:100]]
    unknown = [name for name in wanted if name not in CROPS]
    known = [dates(name, options.last_frost) for name in wanted if name in CROPS]
    print(json.dumps({"crops": known, "unknown": unknown}, ensure_ascii=False, indent=1))
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
