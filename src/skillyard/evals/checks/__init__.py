"""Checks of an answer that need no judge: texts, patterns and scripts.

``check`` holds the values and reads them from case files, ``outcome`` runs them on an answer, and
``rates`` sums them up by condition.
"""
