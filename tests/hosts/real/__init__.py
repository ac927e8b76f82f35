"""The real Claude Code and Codex, with a home of their own and a scripted model."""
