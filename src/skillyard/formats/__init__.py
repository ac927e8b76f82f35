"""From the text of one file to a :class:`~skillyard.skill.Skill`. Nothing here opens a file."""
