"""What others than our rules say about skills: a model (``scan --reader``), or another scanner.

Their findings are never mixed with those of the rules. A file can talk to a model, so no finding of
a model does not mean that a file is harmless.
"""

from skillyard.usecases.second_opinion.cisco import scan_with_cisco
from skillyard.usecases.second_opinion.reader import ReaderOptions, read_skills

__all__ = ["ReaderOptions", "read_skills", "scan_with_cisco"]
