"""A minimal model loop: choose a skill for each request, or none, and ask the model.

`model` stands for any function from a prompt to a reply; here it only says what it was given.
"""

from __future__ import annotations

from pathlib import Path

import skillyard as sy

LIBRARY = Path(__file__).resolve().parent.parent / "skills"


def model(prompt: str) -> str:
    """Stand in for a model: report the first line of the prompt and its estimated size."""
    first = prompt.splitlines()[0]
    return f"(a model would now read {first!r}, about {sy.context.estimate_tokens(prompt)} tokens)"


def main() -> None:
    """Run three requests; the last fits no skill and goes to the model as it is."""
    catalog = sy.load_catalog(LIBRARY)
    for request in (
        "git bisect: which commit broke the build?",
        "tune this slow sql query",
        "sing me a sea shanty",
    ):
        prompt, match = sy.inject(request, catalog)
        chosen = f"{match.skill.name} ({match.score:.2f})" if match else "no skill"
        print(f"{request}\n  -> {chosen}\n  {model(prompt)}")


if __name__ == "__main__":
    main()
