"""The optional C kernel, and the tag of a wheel. Everything else is in pyproject.toml.

``SKILLYARD_BUILD_KERNEL`` says what a build does with the kernel:

* ``auto`` (default): built where a C compiler works; elsewhere the build goes on without it. The
  package gives the same answers either way, slower without.
* ``required``: a build without the kernel is an error.
* ``off``: not built.

A wheel without the kernel holds only Python and data, and is tagged ``py3-none-any``.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError, OptionError

NATIVE = Path("src/skillyard/engine/index/native")
MODES = ("auto", "required", "off")
MODE = os.environ.get("SKILLYARD_BUILD_KERNEL") or "auto"
# The limited API of 3.11 exists in CPython with its global lock, and there alone.
HAS_LIMITED_API = sys.implementation.name == "cpython" and not sysconfig.get_config_var(
    "Py_GIL_DISABLED"
)
# Fused multiply-add would give other last bits than Python's doubles, and whole numbers wrap.
GNU_FLAGS = ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno", "-fwrapv", "-fvisibility=hidden"]
# With /fp:precise of Visual Studio 2022 and later, whole numbers wrap without being told.
MSVC_FLAGS = ["/O2", "/fp:precise", "/std:c11", "/utf-8"]


def kernel() -> list[Extension]:
    """Return the kernel as a list of one, or an empty list where it is not to be built."""
    if MODE not in MODES:
        raise OptionError(f"SKILLYARD_BUILD_KERNEL={MODE!r}: use one of {', '.join(MODES)}")
    if MODE == "required" and not HAS_LIMITED_API:
        raise OptionError("SKILLYARD_BUILD_KERNEL=required needs CPython with the limited API")
    if MODE == "off" or not HAS_LIMITED_API:
        return []
    return [
        Extension(
            "skillyard.engine.index._kernel",
            sorted(file.as_posix() for file in NATIVE.glob("*.c")),
            depends=sorted(file.as_posix() for file in NATIVE.glob("*.h")),
            define_macros=[("Py_LIMITED_API", "0x030b0000")],
            # No symbols but the exported ones: smaller, and no path of the machine that built it.
            extra_link_args=["-Wl,-s"] if sys.platform == "linux" else [],
            py_limited_api=True,
            optional=MODE == "auto",
        )
    ]


class BuildKernel(build_ext):
    """Builds the kernel, and forgets it when it is optional and the compiler failed."""

    def build_extension(self, ext: Extension) -> None:
        """Compile with the flags of the compiler at hand."""
        msvc = self.compiler.compiler_type == "msvc"
        ext.extra_compile_args = MSVC_FLAGS if msvc else GNU_FLAGS
        try:
            super().build_extension(ext)
        except (BaseError, CCompilerError):
            # A library of an earlier build in the same folder must not end up in the wheel.
            Path(self.get_ext_fullpath(ext.name)).unlink(missing_ok=True)
            raise

    def run(self) -> None:
        """Build; afterwards the distribution has an extension only if there is a library."""
        super().run()
        built = [Path(self.get_ext_fullpath(ext.name)) for ext in self.extensions or ()]
        if not all(path.exists() for path in built):
            self.distribution.ext_modules = None


class Wheel(bdist_wheel):
    """A wheel whose tag follows from what was built, not from what was going to be."""

    def run(self) -> None:
        """Build first: the tag and the folders in the wheel depend on the result."""
        self.run_command("build")
        self.root_is_pure = not self.distribution.has_ext_modules()
        super().run()


setup(
    ext_modules=kernel(),
    cmdclass={"build_ext": BuildKernel, "bdist_wheel": Wheel},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if HAS_LIMITED_API else {},
)
