"""Parses the text of one file into a ``Skill``. Nothing here opens a file."""
