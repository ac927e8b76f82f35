"""The optional C kernel. Everything else stands in pyproject.toml.

Without a compiler, or where it fails, the package is built without the kernel and answers the
same, slower.
"""

from __future__ import annotations

from setuptools import Extension, setup

KERNEL = Extension(
    "skillyard.index._kernel",
    ["src/skillyard/index/_kernel.c"],
    define_macros=[("Py_LIMITED_API", "0x030b0000")],
    # Fused multiply-add would give other last bits than Python's doubles.
    extra_compile_args=["-O3", "-ffp-contract=off", "-fno-math-errno"],
    py_limited_api=True,
    optional=True,
)

setup(ext_modules=[KERNEL], options={"bdist_wheel": {"py_limited_api": "cp311"}})
