"""Parses the text of one file into a :class:`~skillyard.skill.Skill`. Nothing here opens a file."""
