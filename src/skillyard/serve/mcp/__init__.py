"""The MCP server.

:func:`.stdio.serve_stdio` serves one client over standard input and output, and
:class:`.http_app.McpApp` is the ASGI application of streamable HTTP for the HTTP service.
:mod:`.server` dispatches requests to the tools (:mod:`.tools`) and to skills as resources
(:mod:`.extension`). Both answer from the newest view of the library (:mod:`.call`). The official
SDK (extra ``serve``) is imported by what needs it.
"""
