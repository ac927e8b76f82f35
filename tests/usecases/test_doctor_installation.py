"""What ``doctor`` says of the installation: the program, the kernel, packages and extras."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from skillyard.usecases.doctor import installation
from tests.kernel_needed import ABSENT, MAY_SKIP
from tests.usecases.conftest import Doctor, User

INSTALLED = {"PyYAML": "6.0.3", "rich": "14.0", "mcp": "2.4.1", "uvicorn": "0.41"}
REQUIRES = [
    "PyYAML>=6.0.2",
    'rich>=13.7; extra == "cli"',
    'mcp<3,>=2.3; extra == "serve"',
    'uvicorn>=0.40; extra == "serve"',
    'psycopg[binary]>=3.2; extra == "postgres"',
    'skillyard[cli,serve]; extra == "all"',
]


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The installed packages by name; a test may change them."""
    found = dict(INSTALLED)

    def version(name: str) -> str:
        if name not in found:
            raise metadata.PackageNotFoundError(name)
        return found[name]

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(metadata, "requires", lambda name: REQUIRES)
    return found


def test_the_version_and_the_interpreter_are_named(doctor: Doctor) -> None:
    report = doctor()
    assert report.one("version").message == "skillyard 1.2.3"
    assert Path(report.one("version").path, "usecases", "doctor").is_dir()
    assert report.one("python").path == sys.executable


def test_a_program_that_path_does_not_find_is_a_warning_and_the_remedy_finds_it(
    doctor: Doctor, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doctor().one("program").status == "ok"
    other = user.add_program(user.home / "other", "skillyard")
    for path in ("/usr/bin:/bin", f"{other.parent}:{user.programs}:/usr/bin:/bin"):
        monkeypatch.setenv("PATH", path)
        found = doctor().one("program")
        assert found.status == "warning"
        done = subprocess.run(
            ["/bin/sh", "-c", f"{found.command}; command -v skillyard"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout.strip() == str(user.programs / "skillyard")
    (user.programs / "skillyard").unlink()
    assert doctor().one("program").status == "info"


def test_the_kernel_is_loaded_switched_off_missing_or_broken(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (ABSENT and MAY_SKIP):
        assert doctor().one("kernel").path.endswith(".so")

    def broken(name: str) -> object:
        raise ImportError("undefined symbol: PyThing")

    with monkeypatch.context() as patch:
        patch.setattr(installation, "import_module", broken)
        found = doctor().one("kernel")
        assert found.status == "warning"
        assert "PyThing" in found.message
    monkeypatch.setitem(sys.modules, "skillyard.index._kernel", None)
    assert doctor().one("kernel").status == "info"
    monkeypatch.setenv("SKILLYARD_KERNEL", "off")
    found = doctor().one("kernel")
    assert (found.status, found.command) == ("info", "unset SKILLYARD_KERNEL")


def test_an_extra_is_installed_missing_incomplete_or_too_old(
    doctor: Doctor, packages: dict[str, str]
) -> None:
    report = doctor()
    assert [report.one(f"extra.{name}").status for name in ("cli", "serve")] == ["ok", "ok"]
    assert report.all("extra.all") == []
    found = report.one("extra.postgres")
    assert found.status == "info"
    assert found.command.endswith("install 'psycopg[binary]>=3.2'")
    del packages["uvicorn"]
    found = doctor().one("extra.serve")
    assert (found.status, "is incomplete" in found.message) == ("info", True)
    assert found.details["missing"] == ["uvicorn>=0.40"]
    packages |= {"uvicorn": "0.40", "mcp": "2.2.9"}
    found = doctor().one("extra.serve")
    assert (found.status, "mcp 2.2.9 is installed" in found.message) == ("warning", True)
    packages["mcp"] = "3.0.0"
    assert doctor().one("extra.serve").status == "warning"


def test_a_required_package_that_is_missing_is_an_error(
    doctor: Doctor, packages: dict[str, str]
) -> None:
    assert doctor().one("packages").status == "ok"
    del packages["PyYAML"]
    report = doctor()
    assert report.one("packages").status == "error"
    assert not report.diagnosis.healthy


def test_sources_that_are_not_installed_have_no_extras(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def requires(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", requires)
    report = doctor()
    assert report.one("packages").status == "info"
    assert not [each for each in report.diagnosis.findings if each.id.startswith("extra.")]


def test_the_command_that_installs_fits_the_kind_of_environment(
    packages: dict[str, str], user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = installation.missing_of("postgres")
    monkeypatch.setattr(installation, "find_spec", lambda name: object())
    pip = installation.reinstall_command(missing)
    assert pip == f"{sys.executable} -m pip install 'psycopg[binary]>=3.2'"
    monkeypatch.setattr(installation, "find_spec", lambda name: None)
    assert installation.reinstall_command(missing).startswith("uv pip install --python ")
    monkeypatch.setattr(sys, "prefix", str(user.home))
    (user.home / "pipx_metadata.json").touch()
    assert installation.reinstall_command(missing).startswith("pipx inject skillyard ")
