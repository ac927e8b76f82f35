"""The optional C kernel. Everything else stands in pyproject.toml.

Without a compiler, or where it fails, the package is built without the kernel and answers the
same, slower.
"""

from __future__ import annotations

from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Fused multiply-add would give other last bits than Python's doubles, and whole numbers wrap. Both
# is so with /fp:precise of Visual Studio 2022 and later, which wraps without being told.
FLAGS = {
    "msvc": ("/O2", "/fp:precise", "/std:c11", "/utf-8"),
    "unix": ("-O3", "-ffp-contract=off", "-fno-math-errno", "-fwrapv", "-fvisibility=hidden"),
}
"""By the kind of compiler, as setuptools names it; MinGW takes those of the other ones."""


class BuildKernel(build_ext):
    """Builds the kernel with the flags that the compiler takes."""

    def build_extension(self, ext: Extension) -> None:
        """Build one extension."""
        kind = "msvc" if self.compiler.compiler_type == "msvc" else "unix"
        ext.extra_compile_args = [*FLAGS[kind], *(ext.extra_compile_args or [])]
        super().build_extension(ext)


NATIVE = Path("src/skillyard/index/native")
KERNEL = Extension(
    "skillyard.index._kernel",
    sorted(str(file) for file in NATIVE.glob("*.c")),
    depends=sorted(str(file) for file in NATIVE.glob("*.h")),
    define_macros=[("Py_LIMITED_API", "0x030b0000")],
    py_limited_api=True,
    optional=True,
)

setup(
    cmdclass={"build_ext": BuildKernel},
    ext_modules=[KERNEL],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
