"""Bulk ingest: skills from folders and JSON lines into a catalog store, with bounded memory.

Sources yield ``work_items.Item`` values. Worker processes turn the items that differ from the
stored version into rows. Rows are published in batches, each as one generation. An acknowledged
batch stays, so an interrupted run can be repeated.
"""
