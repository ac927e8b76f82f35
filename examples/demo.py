"""The demo: the command line on the skills that ship in ``examples/skills``, in one screen.

Each line that starts with ``$`` is a command that can be typed as it stands; what follows is what
it printed just now.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from skillyard.cli import main as skillyard

RANK = 'skillyard rank "our docker image is 1.8 GB and runs as root" --files Dockerfile --limit 3'
WHY = 'skillyard why csv-cleaning "this csv export has broken umlauts and duplicate rows"'
SELECT = 'skillyard select "who won the world cup in 1994"'
INJECT = (
    'skillyard inject "terraform wants to replace our database, is this plan safe to apply?"'
    " --max-chars 240"
)
COMMANDS = (
    ("Which skills fit a request? Files in play count too.", RANK),
    ("Why that one?", WHY),
    ("Choose one, or say that none fits.", SELECT),
    ("Put the chosen skill into the prompt.", INJECT),
)


def main() -> int:
    """Run the commands one after another; return 0 when each answered as it should."""
    os.chdir(Path(__file__).resolve().parent / "skills")
    for title, command in COMMANDS:
        print(f"\n# {title}\n$ {command}", flush=True)
        code = skillyard(shlex.split(command)[1:])
        sys.stdout.flush()
        if code not in (0, 1):
            return code
    print("\nThe skills are in examples/skills; `skillyard --help` lists what else there is.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
