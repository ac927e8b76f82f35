"""The statement that a bundle in the folder of a skill signs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

__all__ = ["statement_of"]


def statement_of(files: Mapping[str, bytes]) -> bytes:
    """Return the statement of OpenSSF Model Signing 1.0 that lists files."""
    digests = {path: hashlib.sha256(data) for path, data in sorted(files.items())}
    total = hashlib.sha256(b"".join(each.digest() for each in digests.values()))
    resources = [
        {"name": path, "algorithm": "sha256", "digest": each.hexdigest()}
        for path, each in digests.items()
    ]
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "skill", "digest": {"sha256": total.hexdigest()}}],
        "predicateType": "https://model_signing/signature/v1.0",
        "predicate": {
            "serialization": {"method": "files", "hash_type": "sha256", "allow_symlinks": False},
            "resources": resources,
        },
    }
    return json.dumps(statement).encode()
