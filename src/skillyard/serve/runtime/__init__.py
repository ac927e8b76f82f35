"""The parts of a running service, for every protocol: library, searches, threads, guards.

:class:`~skillyard.serve.runtime.app_context.AppContext` contains the parts. A :mod:`.follower`
has the newest :mod:`.snapshot` of the library, and
:mod:`.search_runner` queries remotes. The packages ``http`` and ``mcp`` answer from them.
"""
