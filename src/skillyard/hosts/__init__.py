"""Agents on this machine: hook, adapters of frameworks, doctor, decisions, feedback."""
