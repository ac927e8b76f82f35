"""Prompt hooks: an agent host hands over what its user has typed and is told which skill fits.

A hook stands in the way of every prompt. So it answers from the index on disk and never makes one
while somebody waits, it is bounded by size before it is bounded by the clock, it uses a project's
skills only as its user has approved them, and whatever goes wrong ends in an empty answer, exit
code 0 and a line in the hook's own log.

What the hosts do with exit codes: 0 takes standard output for the answer (empty: none); 2 blocks
the prompt, and Claude Code erases it; every other code is reported as an error of the hook, and
the prompt goes on. So this hook ends with 0 or not at all.
"""
