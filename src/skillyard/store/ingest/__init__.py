"""Skills in bulk: from folders and JSON lines into a catalog store, with bounded memory.

Read, compared, published: sources give :class:`~skillyard.store.ingest.work.Item` values, worker
processes make rows of those that differ from what stands, and batches of rows are published, each
as one generation. What was acknowledged stays, so a run that was interrupted is run again.
"""
