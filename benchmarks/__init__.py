"""Commands that print ratios: our work against a named peer, measured alternately in one run."""
