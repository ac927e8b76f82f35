"""Hold every page of the service and of reports to axe-core in Chromium, with screenshots.

    python tools/pages/run.py [arguments of pytest]

axe-core comes from npm, pinned by ``package-lock.json``, into ``build/pages``. The screenshots go
to the folder that SKILLYARD_ARTIFACTS names, else to ``runs/screenshots``. Where npm, Chromium or
chromedriver is absent nothing is run, which is said, and ends with 0; on CI with 1.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from pinned_npm import install, missing  # noqa: E402 - a script beside this folder

NODE = 18

PAGES = ("tests/serve/web/test_accessible.py", "tests/evals/report/test_browser.py")


def main() -> int:
    """Install axe-core and run the tests; return the exit status."""
    lacking = missing(NODE)
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not lacking and not (browser and shutil.which("chromedriver")):
        lacking = "chromium and chromedriver are not installed (Debian: chromium chromium-driver)"
    if lacking:
        print(f"pages: not run: {lacking}")
        return 1 if os.environ.get("CI") else 0
    os.environ["SKILLYARD_AXE"] = str(install(HERE) / "node_modules" / "axe-core" / "axe.min.js")
    os.environ.setdefault("SKILLYARD_ARTIFACTS", str(HERE.parents[1] / "runs" / "screenshots"))
    return os.spawnv(
        os.P_WAIT,
        sys.executable,
        [
            sys.executable,
            "-m",
            "pytest",
            "--all",
            *PAGES,
            *sys.argv[1:],
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
