"""Evaluation, beside the chain: it drives the engine, and the engine never imports it."""
