#!/usr/bin/env python3
"""Backtest simple forecasts on a series, so that a clever one has something to beat.

Reads one number per row (the last column of a CSV, oldest first) and prints JSON: for each
method the mean absolute error over rolling origins, MASE, bias, and the forecast itself.
Exit status: 0 done, 2 wrong use or too little data.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

MAX_POINTS = 20_000
Method = Callable[[list[float], int, int], list[float]]


def last_value(history: list[float], horizon: int, season: int) -> list[float]:
    """Tomorrow is like today."""
    return [history[-1]] * horizon


def seasonal(history: list[float], horizon: int, season: int) -> list[float]:
    """Like one season ago.

    >>> seasonal([1, 2, 3, 4, 5, 6], 4, 3)
    [4, 5, 6, 4]
    """
    return [history[len(history) - season + step % season] for step in range(horizon)]


def drift(history: list[float], horizon: int, season: int) -> list[float]:
    """The line through the first and the last point, carried on."""
    slope = (history[-1] - history[0]) / (len(history) - 1)
    return [history[-1] + slope * (step + 1) for step in range(horizon)]


def seasonal_growth(history: list[float], horizon: int, season: int) -> list[float]:
    """One season ago, times the ratio of the last two seasons' sums.

    >>> seasonal_growth([10, 20, 20, 40], 2, 2)
    [40.0, 80.0]
    """
    before = sum(history[-2 * season : -season])
    ratio = sum(history[-season:]) / before if before else 1.0
    return [value * ratio for value in seasonal(history, horizon, season)]


def average(history: list[float], horizon: int, season: int) -> list[float]:
    """The mean of the last season."""
    recent = history[-season:]
    return [sum(recent) / len(recent)] * horizon


METHODS: dict[str, Method] = {
    "last_value": last_value,
    "seasonal": seasonal,
    "seasonal_growth": seasonal_growth,
    "drift": drift,
    "average": average,
}


def backtest(
    series: list[float], season: int, horizon: int, folds: int
) -> tuple[int, list[dict[str, object]]]:
    """Roll the origin back ``folds`` times; return the folds used and a result per method.

    >>> used, results = backtest([1, 5, 1, 5, 1, 5, 1, 5, 1, 5], 2, 2, 3)
    >>> used, results[0]["method"], results[0]["mae"]
    (2, 'seasonal', 0.0)
    """
    least = 2 * season + 1
    used = min(folds, (len(series) - least) // horizon)
    if used < 1:
        raise ValueError(f"{len(series)} points are too few: {least + horizon} are needed")
    steps = [abs(b - a) for a, b in zip(series, series[season:], strict=False)]
    scale = sum(steps) / len(steps)
    results: list[dict[str, object]] = []
    for name, method in METHODS.items():
        errors = []
        for fold in range(used):
            cut = len(series) - (fold + 1) * horizon
            forecast = method(series[:cut], horizon, season)
            errors += [f - a for f, a in zip(forecast, series[cut:], strict=False)]
        mae = sum(map(abs, errors)) / len(errors)
        results.append(
            {
                "method": name,
                "mae": round(mae, 4),
                "mase": round(mae / scale, 4) if scale else None,
                "bias": round(sum(errors) / len(errors), 4),
                "forecast": [round(value, 4) for value in method(series, horizon, season)],
            }
        )
    order = list(METHODS)
    ranked = sorted(results, key=lambda r: (float(str(r["mae"])), order.index(str(r["method"]))))
    return used, ranked


def read_series(path: Path) -> list[float]:
    """Read the last column; a first row that is no number counts as header."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = [row for row in islice(csv.reader(stream), MAX_POINTS + 1) if row]
    if rows and not _is_number(rows[0][-1]):
        rows = rows[1:]
    if len(rows) > MAX_POINTS:
        raise ValueError(f"more than {MAX_POINTS} rows: aggregate to weeks or months first")
    for position, row in enumerate(rows, 1):
        if not _is_number(row[-1]):
            raise ValueError(f"row {position}: {row[-1]!r} is not a number; fill gaps first")
    return [float(row[-1]) for row in rows]


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, print the comparison as JSON, return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("file", type=Path, help="CSV, oldest row first, value in the last column")
    parser.add_argument("--season", type=int, default=12, help="points per season (default 12)")
    parser.add_argument("--horizon", type=int, default=3, help="points ahead (default 3)")
    parser.add_argument("--folds", type=int, default=6, help="rolling origins (default 6)")
    options = parser.parse_args(arguments)
    if not (1 <= options.season <= 400 and 1 <= options.horizon <= 400 and options.folds >= 1):
        parser.error("season and horizon must be 1 to 400, folds at least 1")
    try:
        series = read_series(options.file)
        used, results = backtest(series, options.season, options.horizon, options.folds)
    except (OSError, ValueError) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return 2
    print(json.dumps({"points": len(series), "folds": used, "methods": results}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
