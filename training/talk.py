"""``python -m training.talk``: teach the encoder which requests ask for no work.

    python -m training.talk [--model FOLDER] [--out FILE]

Most of what people type to an agent is talk: "thanks, that worked", "hold on a second", "17 * 23".
``data/talk.tsv`` has such messages and, in the same tone, some that do want work, in sixteen
languages (hand, kind, language, message). A network of one hidden layer over the encoder's vector
of a message learns from all hands but ``MEASURED``, and from requests of others and names of skills
as work. What it takes for talk, ``hybrid`` takes for small talk. The file has one row for each
unit, in thousandths: bias, weights, and what the unit counts; the first is always on. Prints how
well that does on the other hands, and on requests far from all skills (``README.md``).
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Sequence
from math import log
from pathlib import Path

import numpy as np
import torch

from skillyard.engine.bench.runs import read_skills
from skillyard.engine.embedding.protocol import UNIT, unit_bytes
from skillyard.engine.ranking.hybrid.constants import SMALL_TALK
from skillyard.engine.ranking.hybrid.dense_index import AnyLanguage
from skillyard_encoder import Encoder
from training.calibrate import Numbers
from training.requests import CHOOSING_HANDS, HERE, PROBABILITY_HANDS, UNSEEN_HANDS, read_rows

SHIPPED = "encoder/src/skillyard_encoder/data/talk.npy"
MEASURED = ("talk8", "talk10")
"""Hands that are never learned."""
TALK, WORK, ASKED, NAMES, CHOSEN = 0.4, 0.15, 0.2, 0.1, 0.15
"""What all talk counts, all work of the same hands, and three kinds of work of others: requests for
single skills, runs of one to three words of a skill's name, and requests to collections."""
COUNTS = 10_000, 2_000, 5_000
"""How many of each of these three."""
HIDDEN = 32
EPOCHS = 120
BATCH = 512
RATE = 3e-3
STRENGTH = 5e-4
"""Weight of the squared numbers."""
SCALE = 8.0
"""What the parts of a vector, of about .05 each, are multiplied by."""
SEED = 5


def _run(words: Sequence[str], draw: random.Random) -> str:
    """Return one to three words that stand together."""
    length = draw.randint(1, 3)
    start = draw.randint(0, max(0, len(words) - length))
    return " ".join(words[start : start + length])


def units_of(read: Numbers, labels: Numbers, weights: Numbers) -> Numbers:
    """Return the units of a network that tells the labels, in thousandths."""
    torch.manual_seed(SEED)
    inputs, wanted, counts = (
        torch.tensor(each, dtype=torch.float32) for each in (SCALE * read, labels, weights)
    )
    first, last = torch.nn.Linear(inputs.shape[1], HIDDEN), torch.nn.Linear(HIDDEN, 1)
    net = torch.nn.Sequential(first, torch.nn.Tanh(), last)
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE)
    steps = EPOCHS * -(-len(inputs) // BATCH)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(inputs)).split(BATCH):
            odds, squares = net(inputs[rows])[:, 0], sum((p**2).sum() for p in net.parameters())
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                odds, wanted[rows], weight=counts[rows]
            )
            optimizer.zero_grad()
            (loss + STRENGTH * squares).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
    on = [20.0, *[0.0] * inputs.shape[1], last.bias.item()]
    units = torch.cat([first.bias[:, None], SCALE * first.weight, last.weight.T], 1)
    return np.round(1000 * np.vstack([on, units.detach().numpy()])).astype(np.int16)


def main() -> None:
    """Write the file, and print how well it tells talk from work."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("SKILLYARD_SHARED", "../shared"))
    parser.add_argument("--model", help="folder of the encoder (default: shipped)")
    parser.add_argument("--out", type=Path, default=Path(SHIPPED))
    options = parser.parse_args()
    reader = AnyLanguage(Encoder(options.model))

    def directions(texts: Sequence[str]) -> Numbers:
        """Return texts x 384 signed bytes, as parts of one; as ``hybrid`` reads a request."""
        vectors = (reader.embed([text], query=True)[0] for text in texts)
        return np.stack([np.frombuffer(unit_bytes(each), np.int8) for each in vectors]) / UNIT

    draw = random.Random(SEED)
    unseen = {f"hand{number}" for number in (*CHOOSING_HANDS, *UNSEEN_HANDS)}
    known = [row[2] for row in read_rows(f"{HERE}/data/hands.tsv") if row[3] not in unseen]
    choices = read_rows(f"{HERE}/data/encoder_choices.tsv")
    chosen = [row[2] for row in choices if row[4] not in PROBABILITY_HANDS]
    skills = read_skills(f"{options.shared}/corpus/skills.jsonl.gz")
    names = [skill.name.replace("-", " ").replace("_", " ").split() for skill in skills]
    runs = [_run(draw.choice(names), draw) for _ in range(COUNTS[1])]
    rows = list(read_rows(f"{HERE}/data/talk.tsv"))
    learned = [row for row in rows if row[0] not in MEASURED]
    kinds = [
        ([text for _, kind, _, text in learned if kind == "talk"], TALK),
        ([text for _, kind, _, text in learned if kind == "work"], WORK),
        (draw.sample(known, COUNTS[0]), ASKED),
        (runs, NAMES),
        (draw.sample(chosen, COUNTS[2]), CHOSEN),
    ]
    read = [directions(texts) for texts, _ in kinds]
    size = sum(map(len, read))
    weights = [
        np.full(len(each), size * share / len(each))
        for each, (_, share) in zip(read, kinds, strict=True)
    ]
    labels = np.arange(size) < len(read[0])
    units = units_of(np.concatenate(read), labels, np.concatenate(weights))
    np.save(options.out, units)
    far = read_rows(f"{options.shared}/bench/none_requests.tsv", f"{HERE}/data/none_requests.tsv")
    hands = [row for row in read_rows(f"{HERE}/data/hands.tsv") if row[3] in unseen]
    measured = {
        "talk of other hands": [row[3] for row in rows if row[0] in MEASURED and row[1] == "talk"],
        "their work": [row[3] for row in rows if row[0] in MEASURED and row[1] == "work"],
        "requests far from all skills": [text for kind, text in far if kind == "none_far"],
        "requests of hands 7 to 10": [row[2] for row in draw.sample(hands, COUNTS[1])],
    }
    for what, texts in measured.items():
        if texts:
            parts = np.tanh((units[:, 0] + directions(texts) @ units[:, 1:-1].T) / 1000)
            taken = parts @ units[:, -1] / 1000 >= log(SMALL_TALK / (1 - SMALL_TALK))
            print(f"# {what}: {taken.mean():.3f} of {len(texts):,} taken for talk")
    print(f"{len(rows):,} messages; {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
