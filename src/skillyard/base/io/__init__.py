"""What differs between operating systems: opening, locking, processes, signals, user folders.

The names that only POSIX systems have (``os.O_NOFOLLOW``, ``fcntl``, ``os.posix_spawn``, …) are
used in this package and nowhere else. Every function here works on Windows too; where a check is
weaker there, its docstring says so.
"""
