"""Look for known vulnerabilities in the pinned packages, or list them: `make audit`, `make sbom`.

    python tools/audit.py [--required]
    python tools/audit.py --sbom FILE

Every file in ``requirements/`` is asked of two services, PyPI's own and OSV. A service that cannot
be reached is said to be so and is no failure, unless ``--required`` says that this machine has a
network. Ends with 1 when a package has a known vulnerability. The list is CycloneDX 1.6, made of
``requirements/container.txt``: what the image holds beside the interpreter; two runs give the same
bytes. Runs in the environment of ``tools/venv FOLDER audit``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SERVICES = ("pypi", "osv")
UNREACHED = ("ConnectionError", "ServiceError", "Max retries exceeded", "could not be audited")
"""What pip-audit says when a service does not answer, or does not know a package that exists."""


def tool(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program of this environment in the repository."""
    program = Path(sys.executable).parent / name
    command = [str(program), *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def audit(*, required: bool) -> int:
    """Ask every service about every file; return 1 for a finding, 2 where one must answer."""
    files = sorted((ROOT / "requirements").glob("*.txt"))
    codes = [_ask(service, files) for service in SERVICES]
    if 1 in codes:
        return 1
    return 2 if required and any(codes) else 0


def _ask(service: str, files: list[Path]) -> int:
    """Ask one service; return 0, 1 for a finding, 2 where it does not answer."""
    options = ("--strict", "--disable-pip", "--require-hashes", "--progress-spinner", "off")
    code = 0
    for file in files:
        named = ("--requirement", file.relative_to(ROOT))
        process = tool("pip-audit", "--vulnerability-service", service, *options, *named)
        if process.returncode and any(word in process.stderr for word in UNREACHED):
            print(f"audit: {service} cannot be reached from here")
            return 2
        if process.returncode:
            print(f"audit: {file.name}\n{process.stdout}{process.stderr}", file=sys.stderr)
            code = 1
    if not code:
        print(f"audit: {service}: nothing known of {len(files)} files")
    return code


def write_sbom(target: Path) -> int:
    """Write what the image holds as CycloneDX."""
    target.parent.mkdir(parents=True, exist_ok=True)
    options = ("--output-reproducible", "--spec-version", "1.6", "--of", "JSON")
    main = ("--pyproject", "pyproject.toml", "--mc-type", "library")
    source = "requirements/container.txt"
    process = tool("cyclonedx-py", "requirements", *options, *main, "-o", target.resolve(), source)
    if process.returncode:
        print(process.stderr, file=sys.stderr)
        return 1
    print(f"sbom: {target}, {target.stat().st_size:,} bytes")
    return 0


def main() -> int:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--required", action="store_true", help="a service must answer")
    parser.add_argument("--sbom", type=Path, metavar="FILE", help="list the packages instead")
    options = parser.parse_args()
    return write_sbom(options.sbom) if options.sbom else audit(required=options.required)


if __name__ == "__main__":
    sys.exit(main())
