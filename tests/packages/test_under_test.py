"""The suite tests the package that it says it tests."""

from __future__ import annotations

import os

from tests.shared_data import PACKAGES, REPOSITORY


def test_the_package_is_the_checkout_or_in_make_test_wheel_the_wheel() -> None:
    wheel = os.environ.get("SKILLYARD_EXPECT_INSTALLED") == "1"
    assert (PACKAGES != REPOSITORY / "src") == wheel
    assert (PACKAGES.name == "site-packages") == wheel
