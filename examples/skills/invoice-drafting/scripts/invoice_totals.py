#!/usr/bin/env python3
"""Compute the totals of an invoice exactly, with tax per rate and the rounding difference shown.

Reads a JSON file: {"currency": "EUR", "rounding": "per_rate" or "per_line", "lines":
[{"text": "...", "quantity": "3", "unit_price": "80.00", "discount_percent": "0",
"tax_percent": "19"}]}. Numbers should be strings, so that no digit is lost on the way.
Exit status: 0 done, 2 wrong use or bad input.
"""

from __future__ import annotations

import argparse
import json
import sys
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path

CENT = Decimal("0.01")
WHOLE = Decimal("1")
# Currencies whose smallest unit is the whole one; all others here are counted in hundredths.
NO_CENTS = frozenset({"JPY", "KRW", "VND", "CLP", "ISK"})
MAX_LINES = 5_000
# With nine places each, a product keeps far inside the 28 digits of decimal arithmetic.
MAX_PLACES = 9


class BadInvoice(ValueError):
    """The input is not an invoice that can be computed."""


def money(value: Decimal, currency: str) -> Decimal:
    """Round half up to the smallest unit of the currency.

    >>> money(Decimal("2.345"), "EUR"), money(Decimal("2.5"), "JPY")
    (Decimal('2.35'), Decimal('3'))
    """
    return value.quantize(WHOLE if currency in NO_CENTS else CENT, rounding=ROUND_HALF_UP)


def number(line: dict[str, object], key: str, default: str | None = None) -> Decimal:
    """Read one number of a line."""
    raw = line.get(key, default)
    try:
        value = Decimal(str(raw))
    except InvalidOperation:
        raise BadInvoice(f"{key}: {raw!r} is not a number") from None
    if not value.is_finite() or abs(value.adjusted()) > MAX_PLACES:
        raise BadInvoice(f"{key}: {raw!r} is out of range")
    return value


def totals(invoice: dict[str, object]) -> dict[str, object]:
    """Return net, tax per rate and gross.

    >>> line = {"quantity": "1", "unit_price": "10.03", "tax_percent": "19"}
    >>> result = totals({"currency": "EUR", "lines": [line, line]})
    >>> result["net"], result["tax"], result["gross"]
    ('20.06', '3.81', '23.87')
    >>> totals({"currency": "EUR", "rounding": "per_line", "lines": [line, line]})["tax"]
    '3.82'
    """
    currency = str(invoice.get("currency", "EUR")).upper()
    rounding = invoice.get("rounding", "per_rate")
    lines = invoice.get("lines")
    if rounding not in ("per_rate", "per_line"):
        raise BadInvoice("rounding: must be per_rate or per_line")
    if not isinstance(lines, list) or not 1 <= len(lines) <= MAX_LINES:
        raise BadInvoice(f"lines: a list of 1 to {MAX_LINES} lines is needed")
    net_by_rate: dict[Decimal, Decimal] = {}
    tax_by_line: dict[Decimal, Decimal] = {}
    nets = []
    for line in lines:
        if not isinstance(line, dict):
            raise BadInvoice("lines: every line must be an object")
        factor = 1 - number(line, "discount_percent", "0") / 100
        net = money(number(line, "quantity", "1") * number(line, "unit_price") * factor, currency)
        rate = number(line, "tax_percent", "0")
        nets.append(net)
        net_by_rate[rate] = net_by_rate.get(rate, Decimal(0)) + net
        tax_by_line[rate] = tax_by_line.get(rate, Decimal(0)) + money(net * rate / 100, currency)
    tax_by_total = {rate: money(net * rate / 100, currency) for rate, net in net_by_rate.items()}
    taxes = tax_by_total if rounding == "per_rate" else tax_by_line
    net, tax = sum(nets, Decimal(0)), sum(taxes.values(), Decimal(0))
    return {
        "currency": currency,
        "line_net": [str(value) for value in nets],
        "by_rate": [
            {"tax_percent": str(rate), "net": str(net_by_rate[rate]), "tax": str(taxes[rate])}
            for rate in sorted(net_by_rate)
        ],
        "net": str(net),
        "tax": str(tax),
        "gross": str(net + tax),
        "rounding_difference": str(sum(tax_by_line.values()) - sum(tax_by_total.values())),
    }


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, print the totals as JSON, return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", help="the invoice as JSON, or - for standard input")
    options = parser.parse_args(arguments)
    try:
        stdin = options.file == "-"
        text = sys.stdin.read() if stdin else Path(options.file).read_text(encoding="utf-8")
        invoice = json.loads(text, parse_float=str, parse_int=str)
        if not isinstance(invoice, dict):
            raise BadInvoice("the top level must be an object")
        print(json.dumps(totals(invoice), ensure_ascii=False, indent=1))
    except (OSError, ValueError) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
