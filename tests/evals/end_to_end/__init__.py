"""Whole runs: the command line, the makers' libraries, and the stand-in behind them."""
