"""Answers of agents: a model with tools, scripts and files in a sandbox, run by inspect_ai."""
