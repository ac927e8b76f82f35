"""The encoder: word pieces, one ONNX model, and a unit vector for each text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["Encoder"]

MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
KINDS = "kinds.npy"
UNIT_DOT = 127 * 127
"""The dot product of a vector of signed bytes with itself."""
MAX_PIECES = 128
"""Word pieces of a text; the rest is not read. Longer requests lose nothing by it
(spec/encoder.md)."""

MAX_CHARS = 10_000
"""Characters of a text that are cut into pieces, so that a huge text costs little."""


class Encoder:
    """Turns texts into vectors of 384 numbers. Thread-safe. The first text loads the model.

    Each text is encoded by itself. Numbers inside the model are rounded by the largest of a batch,
    so a vector would otherwise depend on its neighbours.
    """

    weights = (0.40, 0.20, 0.20)
    """The weight of its cosine in ``hybrid``: for English requests, for those of more than 60
    words, and for other languages, which it hardly understands (spec/encoder.md)."""
    is_english = True

    calibration = (
        *(0.3629, 0.7793, 5.3329, -5.2117),
        *(-2.0977, 4.1585, 1.0943),
        *(0.1586, 0.0999, -0.9739, 1.8427, 0.0310, -0.0068, -3.7034),
        *(-0.0452, 2.3679, 0.7398, -1.3279, -0.4144, -0.0219, -0.1250),
        *(3.1104, 16.0270),
        *(0.0069, -0.5199, -0.7865, 0.0335, 2.5761),
        *(3.4570, 1.8842, 3.2743, 6.6349, -8.8449),
    )
    """What its cosine says about the probability: bias, log-odds of the built-in evidence, cosine
    of the best skill and its lead over the next; bias, cosine and lead of English requests once
    more; the features of the best skill; the request's highest and mean cosine with
    :meth:`background`; and the products of two (``python -m training.calibrate_encoder``)."""

    order = (0.6641, 0.7170, 1.5161)
    """What counts once more among the best skills of an English request: the share of it that a
    skill contains, the share of names that it does not, and the cosine
    (``python -m training.order --encoder``)."""
    threads: int | None = None
    """Threads that encode several texts at once; None for one on each core."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        """``folder`` contains another model, its tokenizer and its kinds of skills.

        Raises OSError without them.
        """
        self.folder = Path(__file__).parent / "data" if folder is None else Path(folder)
        digest = sha256()
        for name in (MODEL, TOKENIZER):
            with (self.folder / name).open("rb") as file:
                file_digest(file, lambda: digest)  # in parts: the model is not needed yet
        self.id = f"skillyard-encoder-{digest.hexdigest()[:16]}"

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """Return a unit vector for each text. Requests and skills are encoded alike."""
        if len(texts) < 2:
            return [self._vector(text) for text in texts]
        self._session, self._tokenizer  # noqa: B018  # loaded once, before the threads
        with ThreadPoolExecutor(self.threads or _cores()) as pool:
            return list(pool.map(self._vector, texts))

    def background(self, direction: bytes) -> tuple[float, float]:
        """Return the highest and the mean cosine of a request with 768 kinds of public skills.

        ``direction`` is its vector as signed bytes of norm 127. Sums of bytes are exact.
        """
        import numpy as np

        dots = self._kinds @ np.frombuffer(direction, dtype=np.int8).astype(np.int32)
        return int(dots.max()) / UNIT_DOT, int(dots.sum()) / len(dots) / UNIT_DOT

    def _vector(self, text: str) -> list[float]:
        import numpy as np

        readable = text[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8")  # no surrogates
        pieces = np.array([self._tokenizer.encode(readable).ids], dtype=np.int64)
        (vectors,) = self._session.run(None, {"pieces": pieces, "held": np.ones_like(pieces)})
        vector: list[float] = vectors[0].tolist()
        return vector

    @cached_property
    def _kinds(self) -> Any:
        import numpy as np

        return np.load(self.folder / KINDS).astype(np.int32)  # without BLAS and its buffers

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self.folder / TOKENIZER))
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
        return InferenceSession(
            str(self.folder / MODEL), options, providers=["CPUExecutionProvider"]
        )


def _cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
