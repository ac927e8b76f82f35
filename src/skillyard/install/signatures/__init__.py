"""Signatures of skills: sigstore bundles, verified against the files that came."""
