"""What a running service is made of, whatever it speaks: catalog, searches, threads, guards.

:class:`~skillyard.serving.runtime.service.Service` holds the parts, :mod:`.live` follows the
files, and :mod:`.searching` asks remotes. The surfaces ``http`` and ``mcp`` answer from it.
"""
