"""A Retry-After header is seconds from now, or nothing."""

from __future__ import annotations

from skillyard.base.io.connections import retry_after_s
from tests.tables import for_each

NOW = 1_792_567_660.0


@for_each(
    ("header", "seconds"),
    [
        ("7", 7.0), (" 7 ", 7.0), ("0", 0.0), ("1.5", 1.5),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 20.0), ("Fri, 01 Jan 2010 00:00:00 GMT", 0.0),
        (None, None), ("", None), ("soon", None), ("-3", None), ("nan", None), ("inf", None),
        ("9" * 30, None),
    ],
)  # fmt: skip
def test_what_a_header_means(header: str | None, seconds: float | None) -> None:
    assert retry_after_s(header, NOW) == seconds
