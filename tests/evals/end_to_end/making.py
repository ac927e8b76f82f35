"""A small library with its cases, and one way to run evaluations of it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillyard_testkit import toml
from tests.cli.making import write

__all__ = ["KEY", "Project", "config", "project", "run_apart"]

KEY = "sk-ant-secret-5d41402abc4b2a76b9719d911017c592"
"""Looks like a real one, so that a search for it finds every place that it reached."""

SKILLS = {
    "tea-brewing/SKILL.md": """\
---
name: tea-brewing
description: Brews green, black and herbal tea. Use for water temperature and steeping time.
---
# Tea brewing

## Scope

Water temperature, steeping time and the amount of leaves, for a pot or a cup. Not for coffee.

## Water

1. Heat the water: 75 degrees for green tea, 95 for black.
2. Warm the pot before the leaves go in.

## Steeping

- Green: two minutes.
- Black: four minutes, then take the leaves out.
""",
    "tea-brewing/references/altitude.md": """\
# Altitude

Water boils at 93 degrees in a mountain hut at 2,000 metres: steep black tea a minute longer.
""",
    "coffee-roasting/SKILL.md": """\
---
name: coffee-roasting
description: Roasts coffee beans at home. Use for roast levels, first crack and cooling.
---
# Coffee roasting

## Scope

Roast levels, first crack, second crack and cooling of beans, in a pan or a drum. Not for brewing.

## Stages

1. Dry the beans until they turn yellow.
2. Listen for the first crack; a light roast ends there.
3. Cool the beans within four minutes.
""",
    "bread-baking/SKILL.md": """\
---
name: bread-baking
description: Bakes sourdough bread. Use for starters, hydration, proofing and oven steam.
---
# Bread baking

## Scope

Starter care, hydration, proofing and steam for loaves from a home oven. Not for cakes.

## Dough

1. Mix flour and water, and let it rest for half an hour.
2. Fold the dough every thirty minutes.

## Oven

- Steam for the first twenty minutes.
""",
}

CANDIDATES = """\
candidates:
  - skill: tea-brewing
    expected_tier: small
    siblings: [references/altitude.md]
    test_prompts:
      - My green leaves taste bitter at 1,900 metres. Which temperature and how long?
      - How many leaves for a litre of the black one, and when do I take them out?
  - skill: coffee-roasting
    test_prompts:
      - The beans crack twice and smell burnt. When should I have stopped the pan?
  - skill: bread-baking
    test_prompts:
      - My loaf is flat and the crust is pale. What about proofing and steam?
"""

RUBRICS = {
    "tea-brewing": (
        "My green leaves taste bitter. Which temperature and how long?",
        "What changes in a mountain hut?",
    ),
    "coffee-roasting": ("The beans smell burnt after the second crack. What went wrong?",),
}

_RUBRIC = """\
skill_name: {name}
test_prompts:
{prompts}
criteria:
  - name: right figures
    weight: 0.6
    description: Temperatures and times are right for the case.
  - name: clear steps
    weight: 0.4
    description: The steps can be followed in the order in which they are given.
"""

ACTIVATION = [
    ("p-1", "green leaves are bitter, which water temperature and steeping time?", "tea-brewing"),
    ("p-2", "how long does black tea steep", "tea-brewing"),
    ("p-3", "when is the first crack over and how do I cool the beans", "coffee-roasting"),
    ("p-4", "a light roast in a pan, please", "coffee-roasting"),
    ("p-5", "my starter is sour and the proofing takes a day", "bread-baking"),
    ("p-6", "how much oven steam does a loaf need", "bread-baking"),
    ("n-1", "what is the capital of Peru", None),
    ("n-2", "rename all files in this folder", None),
    ("n-3", "good morning", None),
]

_CONFIG: dict[str, Any] = {
    "models": {"generation": "claude-haiku-5-5", "judge": "claude-sonnet-5-5"},
    "concurrency": 4,
    "retry": {"base_s": 0, "jitter": 0},
}


@dataclass(frozen=True)
class Project:
    """A folder with ``skills`` and ``evals``; results lie in ``results`` unless told."""

    folder: Path
    more: dict[str, str] = field(default_factory=dict)

    @property
    def results(self) -> Path:
        return self.folder / "results"

    def arguments(self, layer: str, *given: str) -> list[str]:
        """Return the command line of one layer; what is given last wins."""
        places = {
            "--root": self.folder / "skills",
            "--evals-dir": self.folder / "evals",
            "--output-dir": self.results,
            "--baselines-dir": self.folder / "baselines",
        }
        line = ["eval", layer]
        for name, place in places.items():
            if name not in given:
                line += [name, str(place)]
        if layer in ("effectiveness", "size-impact"):
            line.append("--anyway")  # a prompt or two show whether it works, and decide nothing
        return [*line, *given]

    def envelopes(self, results: Path | None = None) -> list[dict[str, Any]]:
        """Return every results file, oldest first."""
        paths = (results or self.results).glob("*_2*.json")
        read = [json.loads(path.read_text("utf-8")) for path in paths]
        return sorted(read, key=lambda each: (each["meta"]["timestamp"], each["meta"]["run_id"]))

    def envelope(self, results: Path | None = None) -> dict[str, Any]:
        """Return the only results file."""
        (result,) = self.envelopes(results)
        return result

    def entries(self, kind: str, results: Path | None = None) -> list[Path]:
        """Return the kept generations or judgements."""
        return sorted((results or self.results).glob(f"{kind}/*/*.json"))

    def configure(self, **sections: Any) -> None:
        """Write the configuration again, with these keys on top."""
        write(self.folder, {"evals/skillyard.toml": config(**sections)})


def run_apart(program: str, line: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a program that takes a command line in a process of its own, without settings."""
    return subprocess.run(
        [sys.executable, "-c", program, *line],
        check=False,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(path for path in sys.path if path), "PATH": ""},
        timeout=240,
    )


def config(**sections: Any) -> str:
    """Return a configuration without waits between attempts."""
    return toml({"eval": {**_CONFIG, **sections}})


def project(folder: Path) -> Project:
    """Write three skills with cases for every layer."""
    rubrics = {
        f"evals/rubrics/{name}.yaml": _RUBRIC.format(
            name=name, prompts="\n".join(f"  - {json.dumps(each)}" for each in prompts)
        )
        for name, prompts in RUBRICS.items()
    }
    activation = [
        {
            "id": name,
            "user_prompt": prompt,
            "expected_skills": [skill] if skill else [],
            "acceptable_skills": [],
            "should_activate": skill is not None,
            "category": "direct" if skill else "other",
        }
        for name, prompt, skill in ACTIVATION
    ]
    write(folder / "skills", SKILLS)
    write(
        folder,
        {
            "evals/skillyard.toml": config(),
            **rubrics,
            "evals/datasets/activation/all.jsonl": _lines(activation),
            "evals/datasets/size_impact/candidates.yaml": CANDIDATES,
        },
    )
    return Project(folder)


def _lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)
