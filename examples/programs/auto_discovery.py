"""Auto-discovery: what lies below a folder, in which layout, and what did not load."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import skillyard as sy

LIBRARY = Path(__file__).resolve().parent.parent / "skills"


def main() -> None:
    """Print the layouts found, the remarks, and one skill's files."""
    catalog = sy.load_catalog(LIBRARY)
    for origin, count in sorted(Counter(skill.origin for skill in catalog).items()):
        print(f"{origin}: {count}")
    for remark in catalog.diagnostics:
        print(f"{remark.severity}: {remark.code}: {Path(remark.path).parent.name}")
    skill = catalog.get("git-bisect")
    print(f"{skill.name}: {skill.description}")
    for resource in sy.files.list_resources(skill):
        print(f"  {resource.kind}: {resource.path}")


if __name__ == "__main__":
    main()
