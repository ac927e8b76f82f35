"""A sentence encoder tuned on requests for agent skills: ``hybrid+encoder`` in skillyard."""

from skillyard_encoder.encoder import Encoder

__all__ = ["Encoder"]
