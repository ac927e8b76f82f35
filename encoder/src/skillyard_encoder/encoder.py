"""The encoder: word pieces, two ONNX models of one space, and a unit vector for each text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from hashlib import file_digest, sha256
from math import exp, tanh
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor
    from tokenizers import Tokenizer

__all__ = ["Encoder"]

MODEL = "model.onnx", "model.weights", "tokenizer.json"
"""Graph, weights and word pieces. Weights lie beside the graph, as those are read into memory only
where they are needed: of the rows of word pieces most never are."""
MULTILINGUAL = "multilingual.onnx", "multilingual.weights", "multilingual.pieces"
"""The same of the model of other languages."""
VECTORS = "vectors"
ASIDES = "asides"
"""The output of the probability that a word piece is set aside (``training/asides.py``)."""
KINDS = "kinds.npy"
TALK = "talk.npy"
"""A network that reads a request's vector: the log-odds that it asks for no work. Each row is a
unit: its bias, its weights of the vector, and its weight in the sum, in thousandths
(``training/talk.py``)."""
SUMS = "SHA256SUMS"
"""The digests of the files beside it; reading it costs less than making them of each start."""
UNIT_DOT = 127 * 127
"""The dot product of a vector of signed bytes with itself."""
MAX_PIECES = 128
"""Word pieces of a text; the rest is not read. Longer requests lose nothing by it
(spec/encoder.md)."""

MAX_CHARS = 10_000
"""Characters of a text that are cut into pieces, so that a huge text costs little."""

Cut = tuple[list[int], list[tuple[int, int]]]
"""The word pieces of a text, and the characters (start, end) of each."""


class Model:
    """One ONNX model and its tokenizer. Thread-safe. The first text loads both.

    Each text is encoded by itself. Numbers inside the model are rounded by the largest of a batch,
    so a vector would otherwise depend on its neighbours.
    """

    threads: int | None = None
    """Threads that encode several texts at once; None for one on each core."""
    _last: tuple[str | None, list[float], list[tuple[int, int, float]]] = None, [], []
    """The last request, its vector and its asides."""

    def __init__(self, folder: Path, files: Sequence[str]) -> None:
        """``files`` are those of :data:`MODEL` or :data:`MULTILINGUAL`; OSError without them."""
        self.folder = folder
        self.files = [folder / name for name in files]
        self.id = f"skillyard-encoder-{_digest(folder, *files)}"

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """Return a unit vector for each text. Requests and skills are encoded alike."""
        if len(texts) < 2:
            return [self._vector(text) for text in texts]
        self._session, self._tokenizer  # noqa: B018  # loaded once, before the threads
        with ThreadPoolExecutor(self.threads or _cores()) as pool:
            return list(pool.map(self._vector, texts))

    def asides(self, text: str) -> list[tuple[int, int, float]]:
        """Return (start, end, probability that it is set aside) of each word piece of a request.

        Empty for a model without that output.
        """
        known, _, asides = self._last
        if text == known:
            return asides
        if all(each.name != ASIDES for each in self._session.get_outputs()):
            return []
        (vectors, shares), offsets = self._read(text, VECTORS, ASIDES)
        parts = zip(offsets, shares[0, :, 0].tolist(), strict=True)
        asides = [(*span, own) for span, own in parts]
        self._last = text, vectors[0].tolist(), asides  # the request is mostly embedded next
        return asides

    def _vector(self, text: str) -> list[float]:
        known, vector, _ = self._last
        if text == known:
            return vector
        ((vectors,), _) = self._read(text, VECTORS)
        return vectors[0].tolist()  # type: ignore[no-any-return]

    def _read(self, text: str, *outputs: str) -> tuple[list[Any], list[tuple[int, int]]]:
        import numpy as np

        readable = text[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8")  # no surrogates
        pieces, offsets = self.cut(readable)
        ids = np.array([pieces], dtype=np.int64)
        return self._session.run(outputs, {"pieces": ids, "held": np.ones_like(ids)}), offsets

    def cut(self, text: str) -> Cut:
        """Return the first :data:`MAX_PIECES` word pieces of a text without surrogates."""
        pieces = self._tokenizer.encode(text)
        return pieces.ids, pieces.offsets

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self.files[2]))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_PIECES)
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        # Read once, on loading: from 1.29 it would note an id in ~/.cache and report to its makers.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        from onnxruntime import InferenceSession, SessionOptions

        options = SessionOptions()
        options.intra_op_num_threads = 1  # many texts go through it side by side
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # it would keep what the longest text needed
        options.log_severity_level = 3
        return InferenceSession(str(self.files[0]), options, providers=["CPUExecutionProvider"])


class Multilingual(Model):
    """The model of other languages, and how it cuts them."""

    def cut(self, text: str) -> Cut:
        read = self._tokenizer.encode(text, return_type="offset_mapping")
        ids, offsets = (read[part][: MAX_PIECES - 2] for part in ("ids", "offsets"))
        begin, end = self._tokenizer.bos_id(), self._tokenizer.eos_id()
        return [begin, *ids, end], [(0, 0), *offsets, (0, 0)]

    @cached_property
    def _tokenizer(self) -> SentencePieceProcessor:
        # A tenth of the memory and of the time that a `Tokenizer` of the same pieces needs.
        from sentencepiece import SentencePieceProcessor

        return SentencePieceProcessor(model_file=str(self.files[2]))


class Encoder(Model):
    """Turns texts into vectors of 384 numbers, in one space for all languages.

    It reads English; :attr:`multilingual` reads the rest.
    """

    weights = (0.40, 0.20, 0.55)
    """The weight of its cosine in ``hybrid``: for English requests, for those of more than 60
    words (spec/encoder.md), and for other languages (``training/README.md``)."""
    is_english = True
    passages = (4, 0.6)
    """How many passages of the body of a skill it reads, and what the mean of their vectors counts
    beside that of name and description (``training/README.md``)."""

    calibration = (
        *(-4.6803, 0.5522, 10.8111, -8.0642),
        *(-0.1409, -0.9078, 1.3899),
        *(0.2552, 0.1108, -0.1603, -0.0088, 0.0309, -0.0236, -4.9257),
        *(0.6206, 2.5963, 1.1747, 0.0537, -0.0506, 0.0611, -0.4929),
        *(8.6621, 4.0503),
        *(0.0172, -0.8720, -0.5279, 0.5642, 0.0336),
        *(5.4789, 13.2714, -4.0230, 1.3253, 4.3086),
        *(2.2647, -2.4317, -10.7276, 0.4436, -0.2587),
        0.6601,
        *(0.7090, 0.1286, -1.6735, 1.6742, 0.1937, 0.0119),
    )
    """What its cosine says about the probability: bias, log-odds of the built-in evidence, cosine
    of the best skill and its lead over the next; bias, cosine and lead of English requests once
    more; the features of the best skill; the request's highest and mean cosine with
    :meth:`background`; the products of two, and its points above the next; the size of the library
    (``python -m training.calibrate_encoder``)."""

    order = (0.5732, 0.7924, 2.2232)
    """What counts once more among the best skills of an English request: the share of it that a
    skill contains, the share of names that it does not, and the cosine
    (``python -m training.order --encoder``)."""

    multilingual: Multilingual | None = None
    """Reads other languages, into the same space; None in a folder without its files."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        """``folder`` contains other models, their tokenizers and their kinds of skills.

        Raises OSError without the model of English.
        """
        super().__init__(Path(folder or Path(__file__).parent / "data"), MODEL)
        if (self.folder / MULTILINGUAL[0]).exists():
            self.multilingual = Multilingual(self.folder, MULTILINGUAL)
            self.id += self.multilingual.id[-8:]

    def background(self, direction: bytes) -> tuple[float, float]:
        """Return the highest and the mean cosine of a request with 768 kinds of public skills.

        ``direction`` is its vector as signed bytes of norm 127. Sums of bytes are exact.
        """
        import numpy as np

        dots = self._kinds @ np.frombuffer(direction, dtype=np.int8).astype(np.int32)
        return int(dots.max()) / UNIT_DOT, int(dots.sum()) / len(dots) / UNIT_DOT

    def talk(self, direction: bytes) -> float:
        """Return the probability that a request asks for no work, as "thanks, that worked" does."""
        import numpy as np

        bias, weight = self._talk[:, 0].tolist(), self._talk[:, -1].tolist()
        dots = self._talk[:, 1:-1] @ np.frombuffer(direction, dtype=np.int8).astype(np.int64)
        units = zip(bias, dots.tolist(), weight, strict=True)
        odds = sum(own * tanh((zero + dot / 127) / 1000) for zero, dot, own in units)
        return 1 / (1 + exp(-odds / 1000))

    @cached_property
    def _kinds(self) -> Any:
        import numpy as np

        return np.load(self.folder / KINDS).astype(np.int32)  # without BLAS and its buffers

    @cached_property
    def _talk(self) -> Any:
        import numpy as np

        return np.load(self.folder / TALK).astype(np.int64)  # without BLAS, as above


def _digest(folder: Path, *names: str) -> str:
    """Return sixteen digits that identify the contents of the files."""
    sums = folder / SUMS
    known = (
        dict(line.split()[::-1] for line in sums.read_text().splitlines()) if sums.exists() else {}
    )
    digest = sha256()
    for name in names:
        with (folder / name).open("rb") as file:
            digest.update((known.get(name) or file_digest(file, "sha256").hexdigest()).encode())
    return digest.hexdigest()[:16]


def _cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
