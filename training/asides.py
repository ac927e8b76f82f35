"""``python -m training.asides``: teach the encoder which words of a request set something aside.

    python -m training.asides --models FOLDER

"Rita handles the invoices" or "we threw Helm out in spring" say that a job is not wanted, in more
ways than a table of cues can hold. ``data/asides.tsv`` has 1,344 such requests of sixteen hands,
with what is set aside in double brackets, and 672 that only sound like it. A small network learns
from the first eight hands; it reads three
layers of a model (``LAYERS``) and says of each word piece whether it is set aside. It is added to
both models of the folder as one more output, ``asides``; what they had before stays bit by bit. A
model that has the output already gets a new one. Prints how well that does on hands that it has
not seen (``README.md``).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from skillyard.engine.analysis.exclusion import ASIDE, aside_clauses, read_exclusions
from skillyard.engine.analysis.language import language_of
from skillyard_encoder.encoder import ASIDES, Encoder, Model
from training.export_encoder import write_model
from training.requests import (
    CHOOSING_HANDS,
    HERE,
    PROBABILITY_HANDS,
    SIBLING_HAND,
    UNSEEN_HANDS,
    read_rows,
)

SEED = 3
LAYERS = (6, 8, 10), (12, 16, 20)
"""Numbers of the layer norms that are read, of the model of English and of the other; each layer
of them has two."""
HIDDEN = 32
EPOCHS = 20
BATCH = 1024
RATE = 3e-3
DECAY = 1e-2
DROPOUT = 0.3
PLAIN = 6_000
"""Requests of others in which no cue stands; they set nothing aside."""
PLAIN_WEIGHT = 0.5
PARTS = 8
"""Hands to learn from, each left out in turn. The later ones only measure."""
_BRACKETS = re.compile(r"\[\[|\]\]")

Pieces = list[tuple[int, int]]
"""The characters of each word piece."""


class Marked(NamedTuple):
    """A request, and what of it is set aside."""

    part: int
    """What is left out together; :data:`PARTS` for what is never learned."""
    language: str
    text: str
    spans: list[tuple[int, int]]
    is_plain: bool = False


def read_marked() -> Iterator[Marked]:
    """Yield the requests of ``data/asides.tsv``."""
    for hand, _, language, _, marked, *_ in read_rows(f"{HERE}/data/asides.tsv"):
        text, spans, start = "", [], 0
        for number, piece in enumerate(_BRACKETS.split(marked)):
            start, text = len(text), text + piece
            if number % 2:
                spans.append((start, len(text)))
        yield Marked(min(int(hand.removeprefix("aside")) - 1, PARTS), language, text, spans)


def read_plain(*, english: bool) -> list[Marked]:
    """Return requests without a cue, drawn by a seed."""
    unseen = {f"hand{number}" for number in (*CHOOSING_HANDS, *UNSEEN_HANDS, SIBLING_HAND)}
    texts = [
        row[2]
        for row in read_rows(f"{HERE}/data/hands.tsv")
        if row[3] not in unseen and (row[4] == "en") == english
    ]
    if english:
        rows = read_rows(f"{HERE}/data/encoder_choices.tsv")
        texts += [row[2] for row in rows if row[4] not in PROBABILITY_HANDS]
    order = np.random.default_rng(SEED).permutation(len(texts))
    drawn = (texts[place] for place in order)
    plain = (text for text in drawn if not read_exclusions(text, language_of(text)).excluded)
    language = "en" if english else ""
    return [
        Marked(number % PARTS, language, text, [], is_plain=True)
        for number, text in zip(range(PLAIN), plain, strict=False)
    ]


def state_reader(model: Model, layers: Sequence[str]) -> Callable[[str], tuple[Any, Pieces]]:
    """Return what reads pieces x numbers of a text, as the shipped model has them."""
    import onnx
    from onnxruntime import InferenceSession

    graph = onnx.load(model.files[0])
    for name in layers:
        graph.graph.output.append(
            onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
        )
    session = InferenceSession(graph.SerializeToString())

    def read(text: str) -> tuple[Any, Pieces]:
        pieces, offsets = model.cut(text)
        ids = np.array([pieces])
        states = session.run(layers, {"pieces": ids, "held": np.ones_like(ids)})
        return np.concatenate([state[0] for state in states], axis=1), offsets

    return read


def fitted(
    states: Sequence[Any], requests: Sequence[Marked], offsets: Sequence[Pieces]
) -> torch.nn.Sequential:
    """Return the network, from these requests."""
    torch.manual_seed(SEED)
    rows, labels, weights = [], [], []
    for state, request, pieces in zip(states, requests, offsets, strict=True):
        for place, (start, end) in enumerate(pieces):
            if end > start:
                rows.append(state[place])
                labels.append(float(any(a <= start < b for a, b in request.spans)))
                weights.append(PLAIN_WEIGHT if request.is_plain else 1.0)
    inputs, wanted = torch.tensor(np.stack(rows)), torch.tensor(labels)
    counts = torch.tensor(weights)
    mean, deviation = inputs.mean(0), inputs.std(0) + 1e-3
    inputs = (inputs - mean) / deviation
    first = torch.nn.Linear(inputs.shape[1], HIDDEN)
    last = torch.nn.Linear(HIDDEN, 1)
    net = torch.nn.Sequential(first, torch.nn.GELU(), torch.nn.Dropout(DROPOUT), last)
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    steps = EPOCHS * -(-len(inputs) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    loss_of = torch.nn.functional.binary_cross_entropy_with_logits
    for _ in range(EPOCHS):
        for some in torch.randperm(len(inputs)).split(BATCH):
            optimizer.zero_grad()
            loss_of(net(inputs[some])[:, 0], wanted[some], counts[some]).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
    with torch.no_grad():  # the scaling of the inputs becomes part of the first layer
        first.weight.div_(deviation)
        first.bias.sub_(first.weight @ mean)
    return net.eval()


def add_output(model: Model, layers: Sequence[str], net: torch.nn.Sequential) -> None:
    """Add the network to the model, its first layer in signed bytes with one scale a column."""
    import onnx
    from onnx import helper, numpy_helper

    graph = onnx.load(model.files[0])
    body = graph.graph
    for kept in (body.node, body.initializer, body.output):
        own = [each for each in kept if not (each.name.startswith(ASIDES))]
        del kept[:]
        kept.extend(own)
    first, _, _, last = net
    weights = first.weight.detach().numpy().T  # type: ignore[operator, union-attr]
    scales = (np.abs(weights).max(0) / 127).astype(np.float32)
    numbers = {
        "bytes": np.round(weights / scales).astype(np.int8),
        "scales": scales,
        "zeros": np.zeros(HIDDEN, dtype=np.int8),
        "first": first.bias.detach().numpy(),  # type: ignore[operator, union-attr]
        "last": last.weight.detach().numpy().T,  # type: ignore[operator, union-attr]
        "bias": last.bias.detach().numpy(),  # type: ignore[operator, union-attr]
    }
    body.initializer.extend(
        numpy_helper.from_array(np.ascontiguousarray(value), f"{ASIDES}.{name}")
        for name, value in numbers.items()
    )
    steps: list[tuple[str, list[str], str, dict[str, Any]]] = [
        ("Concat", [*layers], "states", {"axis": -1}),
        ("DequantizeLinear", [".bytes", ".scales", ".zeros"], "weights", {"axis": 1}),
        ("MatMul", [".states", ".weights"], "product", {}),
        ("Add", [".product", ".first"], "sum", {}),
        ("Gelu", [".sum"], "hidden", {}),
        ("MatMul", [".hidden", ".last"], "dots", {}),
        ("Add", [".dots", ".bias"], "odds", {}),
        ("Sigmoid", [".odds"], "", {}),
    ]
    for kind, inputs, output, options in steps:
        named = [f"{ASIDES}{each}" if each.startswith(".") else each for each in inputs]
        name = f"{ASIDES}.{output}" if output else ASIDES
        body.node.append(helper.make_node(kind, named, [name], name=name, **options))
    shape = [None, None, 1]
    body.output.append(helper.make_tensor_value_info(ASIDES, onnx.TensorProto.FLOAT, shape))
    write_model(graph, *model.files[:2])


def line_of(requests: Sequence[Marked], found: Sequence[list[tuple[int, int]]]) -> str:
    """Return the shares of what is set aside that is found, and of what is not and is."""
    hits, clean, false = [], [], {True: [], False: []}
    for request, spans in zip(requests, found, strict=True):
        inside = _characters(request.spans)
        taken = _characters(spans)
        letters = {place for place, letter in enumerate(request.text) if letter.isalnum()}
        if inside:
            hits.append(len(taken & inside & letters) >= len(inside & letters) / 2)
            rest = letters - inside
            clean.append(hits[-1] and len(taken & rest) <= 0.15 * len(rest))
        else:
            false[request.is_plain].append(bool(taken & letters))
    return (
        f"found {np.mean(hits):.2f}, without much else {np.mean(clean):.2f} of {len(hits)};"
        f" wrongly {sum(false[False])} of {len(false[False])} that only sound like it,"
        f" {sum(false[True])} of {len(false[True])} others"
    )


def _characters(spans: Sequence[tuple[int, int]]) -> set[int]:
    return {place for start, end in spans for place in range(start, end)}


def main() -> None:
    """Fit both networks, print how they do on other hands, and write them into the models."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", type=Path, required=True, help="folder of both models")
    options = parser.parse_args()
    torch.set_num_threads(2)
    marked = [*read_marked()]
    encoder = Encoder(options.models)
    for model, numbers in zip((encoder, encoder.multilingual), LAYERS, strict=True):
        assert model is not None
        is_english = model is encoder
        layers = [f"layer_norm_{number}" for number in numbers]
        requests = [each for each in marked if not is_english or each.language == "en"]
        requests += read_plain(english=is_english)
        read = state_reader(model, layers)
        states, offsets = zip(*(read(each.text) for each in requests), strict=True)
        found: list[list[tuple[int, int]]] = [[] for _ in requests]
        for part in range(PARTS + 1):
            kept = [n for n, each in enumerate(requests) if each.part not in (part, PARTS)]
            net = fitted(*([each[n] for n in kept] for each in (states, requests, offsets)))
            for place, request in enumerate(requests):
                if request.part == part:
                    with torch.no_grad():
                        odds = net(torch.tensor(states[place]))[:, 0].sigmoid().tolist()
                    pieces = [(*each, own) for each, own in zip(offsets[place], odds, strict=True)]
                    language = language_of(request.text)
                    clauses = aside_clauses(request.text, language, pieces, ASIDE)
                    found[place] = [clause[:2] for clause in clauses]
        for what, is_theirs in (("English", True), ("other languages", False)):
            for hands, is_new in (("left out in turn", False), ("never learned", True)):
                here = [
                    n
                    for n, each in enumerate(requests)
                    if (each.language == "en") == is_theirs and (each.part == PARTS) == is_new
                ]
                if here:
                    own = ([every[n] for n in here] for every in (requests, found))
                    print(f"# {model.files[0].name}, {what}, hands {hands}: {line_of(*own)}")
        add_output(model, layers, net)  # the last: from all that is learned


if __name__ == "__main__":
    main()
