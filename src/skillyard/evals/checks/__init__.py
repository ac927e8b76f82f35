"""Checks of an answer that need no judge: texts, patterns and scripts.

``outcome`` reads checks from case files and runs them on an answer, and
``rates`` sums them up by condition.
"""
