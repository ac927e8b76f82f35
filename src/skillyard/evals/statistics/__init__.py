"""What the figures of a run allow to be said: intervals, tests, power, order, length, agreement.

Pure functions of numbers: no file, no clock, no network. The unit of independence is one prompt of
one skill: its runs and orders are averaged before anything is concluded (Miller 2024,
arXiv 2411.00640, on errors that come in clusters). Random numbers come from a given seed.
"""
