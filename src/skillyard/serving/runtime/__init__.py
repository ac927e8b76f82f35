"""What a running service is made of, whatever it speaks: library, searches, threads, guards.

:class:`~skillyard.serving.runtime.app_context.AppContext` holds the parts. A :mod:`.follower` holds
the newest :mod:`.view` of the library, :mod:`.freshness` says how new that is, and
:mod:`.search_runner` asks remotes. The surfaces ``http`` and ``mcp`` answer from them.
"""
