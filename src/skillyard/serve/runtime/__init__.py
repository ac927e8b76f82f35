"""The parts of a running service, for every protocol: library, searches, threads, guards.

:class:`~skillyard.serve.runtime.app_context.AppContext` contains the parts. A :mod:`.follower`
has the newest :mod:`.view` of the library, :mod:`.freshness` defines how recent it is, and
:mod:`.search_runner` queries remotes. The packages ``http`` and ``mcp`` answer from them.
"""
