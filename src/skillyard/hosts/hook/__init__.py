"""Prompt hooks: an agent host passes the user's prompt, and the hook names the skill that fits.

A hook delays every prompt, so it answers from the index on disk and never builds one in the
foreground. Sizes are limited, and a time budget is the last resort. A project's skills are used
only as the user has approved them. Any error ends in an empty answer, exit code 0 and a line in the
hook's log.

Exit codes in the hosts: with 0 the standard output is the answer. With 2 the prompt is blocked, and
Claude Code erases it. Any other code is reported as an error of the hook, and the prompt continues.
Therefore this hook always exits with 0.
"""
