"""``python -m training.export_encoder``: one small file of a tuned encoder, and its tokenizer.

    python -m training.export_encoder --tuned encoder.safetensors --out FOLDER

Blends the tuned weights with the untuned ones, drops word pieces that neither the pool nor the
requests hold, and writes ``model.onnx``, its weights in signed bytes, and ``tokenizer.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from skillyard.engine.bench.runs import read_skills
from skillyard_encoder.encoder import MODEL
from training.encoder import Encoder, blend, load_encoder, load_tokenizer, pad
from training.encoder_examples import skill_views
from training.requests import read_hands, request_rows

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PLACES = 128
"""Places of a text that the file holds, as many as the package reads."""
COMMON = 6_000
"""Word pieces that stay whether they occur or not: the first of the list, which is by frequency."""


def read_tuned(path: Path) -> Encoder:
    """Return the encoder of a file that :mod:`.tune_encoder` wrote."""
    from safetensors.torch import load_file

    encoder = load_encoder()
    encoder.load_state_dict(load_file(str(path)))
    return encoder


def used_pieces(tokenizer: Any, texts: Iterable[str]) -> list[str]:
    """Return the word pieces to keep, in the order of the vocabulary.

    Single characters stay, so that every word of known characters has pieces.
    """
    listed = sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1])
    seen = {piece for text in texts for piece in tokenizer.encode(text).tokens}
    seen.update(SPECIAL)
    usual = [piece for piece, _ in listed if not piece.startswith("[unused")][:COMMON]
    seen.update(usual)
    return [piece for piece, _ in listed if piece in seen or len(piece.removeprefix("##")) == 1]


def pruned_tokenizer(tokenizer: Any, kept: list[str]) -> str:
    """Return the tokenizer's file with these word pieces alone, renumbered."""
    document = json.loads(tokenizer.to_str())
    places = {piece: number for number, piece in enumerate(kept)}
    document["model"]["vocab"] = places
    for token in document["added_tokens"]:
        token["id"] = places[token["content"]]
    processor = document["post_processor"]
    for piece, entry in processor.get("special_tokens", {}).items():
        entry["ids"] = [places[piece]]
    for name in ("sep", "cls"):
        if name in processor:
            processor[name][1] = places[processor[name][0]]
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def pruned(encoder: Encoder, tokenizer: Any, kept: list[str]) -> Encoder:
    """Return the encoder with the rows of these word pieces alone, and the places that are read."""
    vocabulary = tokenizer.get_vocab()
    rows = encoder.words.weight.detach()[[vocabulary[piece] for piece in kept]]
    smaller = Encoder(len(kept), layers=len(encoder.layers))
    smaller.load_state_dict({**encoder.state_dict(), "words.weight": rows})
    cut_places(smaller)
    return smaller.eval()


def cut_places(encoder: Encoder) -> None:
    """Leave the encoder the places that the package reads."""
    places = encoder.positions.weight.detach()[:PLACES].clone()
    encoder.positions = torch.nn.Embedding.from_pretrained(places)


def write_onnx(encoder: Encoder, folder: Path) -> None:
    """Write the encoder with its weights as signed bytes, one scale a column.

    The bytes use seven bits: with eight, processors without VNNI saturate sums of two products, and
    vectors would differ between machines.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory() as beside:
        whole, small = (os.path.join(beside, name) for name in ("whole.onnx", "small.onnx"))
        export(encoder, whole)
        quantize_dynamic(
            whole,
            small,
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
            op_types_to_quantize=["MatMul", "Gemm", "Gather"],
        )
        write_model(onnx.load(small), *(folder / name for name in MODEL[:2]))


def write_model(model: Any, graph: Path, weights: Path) -> None:
    """Write a model, without the notes of where on this machine its lines of code lie."""
    import onnx

    for node in model.graph.node:
        node.ClearField("metadata_props")
        node.ClearField("doc_string")
    weights.unlink(missing_ok=True)  # else these weights were put behind those
    onnx.save_model(model, graph, save_as_external_data=True, location=weights.name)
    weights.chmod(graph.stat().st_mode)


def export(encoder: torch.nn.Module, path: str) -> None:
    """Write an encoder of any number of texts and places, weights in 32 bits."""
    example = pad([[0, 1, 2, 3], [0, 1]])
    texts, places = torch.export.Dim("texts", min=1), torch.export.Dim("places", min=2, max=512)
    shape = {0: texts, 1: places}
    program = torch.onnx.export(
        encoder,
        example,
        dynamo=True,
        input_names=["pieces", "held"],
        output_names=["vectors"],
        dynamic_shapes={"pieces": shape, "held": shape},
        external_data=False,
    )
    assert program is not None
    program.save(path)


def _texts(shared: str) -> Iterable[str]:
    for skill in read_skills(os.path.join(shared, "corpus", "skills.jsonl.gz")):
        yield " ".join(skill_views(skill))
    for row in request_rows(shared, "requests.tsv", "more_requests.tsv"):
        yield row[2]
    for row in read_hands(shared):
        yield row[2]


def main() -> None:
    """Write the two files, and say how large they are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("SKILLYARD_SHARED", "../shared"))
    parser.add_argument("--tuned", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    options = parser.parse_args()
    torch.set_num_threads(2)
    tokenizer = load_tokenizer()
    kept = used_pieces(tokenizer, _texts(options.shared))
    options.out.mkdir(parents=True, exist_ok=True)
    encoder = pruned(blend(read_tuned(options.tuned)), tokenizer, kept)
    write_onnx(encoder, options.out)
    (options.out / MODEL[2]).write_text(pruned_tokenizer(tokenizer, kept), encoding="utf-8")
    size = sum((options.out / name).stat().st_size for name in MODEL)
    print(f"{len(kept):,} word pieces; {size:,} bytes")


if __name__ == "__main__":
    main()
