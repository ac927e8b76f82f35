"""Policy filters: thresholds, tags, the menu for close scores, and the generalist fallback."""

from __future__ import annotations

from pathlib import Path

import skillyard as sy

LIBRARY = Path(__file__).resolve().parent.parent / "skills"


def show(title: str, selection: sy.Selection) -> None:
    """Print what a selection chose and why not the others."""
    print(title)
    for match in selection.selected:
        print(f"  chosen: {match.skill.name} {match.score:.2f}")
    if selection.abstained:
        print("  nothing fits")
    if selection.fallback:
        print("  (the generalist)")
    for match in selection.rejected[:2]:
        print(f"  not: {match.skill.name} {match.score:.2f}, {match.rejected_because}")
    if selection.menu:
        print(f"  ask: {sy.context.menu_text(selection)}")


def main() -> None:
    """Run one request under four policies."""
    catalog = sy.load_catalog(LIBRARY)
    request = "review the code in this pull request"
    show("as documented", sy.select(catalog, request))
    show("only a confident match", sy.select(catalog, request, sy.SelectionPolicy(min_score=5.0)))
    open_minded = sy.SelectionPolicy(min_score=0.5, exclude_tags=("fallback",), top_k=2)
    show("two, with a low floor, and no generalist", sy.select(catalog, request, open_minded))
    generalist = sy.SelectionPolicy(fallback_tag="fallback")
    show("with a fallback", sy.select(catalog, "sing me a sea shanty", generalist))


if __name__ == "__main__":
    main()
