"""The optional C kernel. Everything else stands in pyproject.toml.

Without a compiler, or where it fails, the package is built without the kernel and answers the
same, slower.
"""

from __future__ import annotations

from pathlib import Path

from setuptools import Extension, setup

NATIVE = Path("src/skillyard/index/native")
KERNEL = Extension(
    "skillyard.index._kernel",
    sorted(str(file) for file in NATIVE.glob("*.c")),
    depends=sorted(str(file) for file in NATIVE.glob("*.h")),
    define_macros=[("Py_LIMITED_API", "0x030b0000")],
    # Fused multiply-add would give other last bits than Python's doubles.
    extra_compile_args=[
        *("-O3", "-ffp-contract=off", "-fno-math-errno", "-fwrapv", "-fvisibility=hidden"),
    ],
    py_limited_api=True,
    optional=True,
)

setup(ext_modules=[KERNEL], options={"bdist_wheel": {"py_limited_api": "cp311"}})
