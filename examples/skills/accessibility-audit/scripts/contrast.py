#!/usr/bin/env python3
"""Contrast ratio of two colours by WCAG 2.2, and the nearest text shade that passes.

Prints one JSON document.
Exit status: 0 the pair passes the wanted level, 1 it does not, 2 wrong use.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from typing import NamedTuple

HEX = re.compile(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
# WCAG 2.2, success criteria 1.4.3 (AA), 1.4.6 (AAA) and 1.4.11 (parts of the interface).
NEEDED = {"aa": 4.5, "aa-large": 3.0, "aaa": 7.0, "aaa-large": 4.5, "ui": 3.0}


class Colour(NamedTuple):
    """An opaque sRGB colour, 0 to 255 per channel."""

    red: int
    green: int
    blue: int

    def __str__(self) -> str:
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"


def parse(text: str) -> Colour:
    """Read ``#rgb`` or ``#rrggbb``.

    >>> str(parse("0af"))
    '#00aaff'
    """
    match = HEX.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not a colour like #1a2b3c")
    digits = match.group(1)
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    return Colour(*(int(digits[i : i + 2], 16) for i in (0, 2, 4)))


def luminance(colour: Colour) -> float:
    """Relative luminance, 0 to 1 (definition in WCAG 2.2)."""
    channels = [channel / 255 for channel in colour]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ratio(one: Colour, other: Colour) -> float:
    """Contrast ratio, 1 to 21, the same in both directions.

    >>> ratio(parse("#000"), parse("#fff"))
    21.0
    >>> round(ratio(parse("#777777"), parse("#ffffff")), 2)
    4.48
    """
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def nearest_passing(text: Colour, background: Colour, needed: float) -> Colour | None:
    """Step the text colour towards black and white alike; the first shade that passes wins.

    >>> str(nearest_passing(parse("#777"), parse("#fff"), 4.5))
    '#767676'
    """
    for step in range(256):
        for end in (0, 255):
            shade = Colour(*(round(c + (end - c) * step / 255) for c in text))
            if ratio(shade, background) >= needed:
                return shade
    return None


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, print the result as JSON, return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("text", help="colour of the text or symbol, such as #6b7280")
    parser.add_argument("background", help="colour behind it")
    parser.add_argument("--level", choices=sorted(NEEDED), default="aa", help="default: aa")
    options = parser.parse_args(arguments)
    try:
        text, background = parse(options.text), parse(options.background)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    found, needed = ratio(text, background), NEEDED[options.level]
    passes = found >= needed
    shade = None if passes else nearest_passing(text, background, needed)
    answer = {
        "text": str(text),
        "background": str(background),
        # Cut, not rounded: 4.499 must not be shown as a passing 4.5.
        "ratio": int(found * 100) / 100,
        "needed": needed,
        "passes": passes,
        "nearest_passing_text": str(shade) if shade else None,
    }
    print(json.dumps(answer, indent=1))
    return 0 if passes else 1


if __name__ == "__main__":
    sys.exit(main())
