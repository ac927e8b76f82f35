"""Statistics of a run: intervals, tests, power, order, length, agreement.

All functions are pure: they use no file, no clock and no network. The unit of independence is one
prompt of one skill. Its runs and orders are averaged first (Miller 2024, arXiv 2411.00640, on
clustered errors). Random numbers come from a given seed.
"""
