"""The HTTP service: the use cases as JSON, and pages for people.

:func:`.app.serve` runs it, and :func:`.app.create_app` returns the ASGI application for another
server; both take :class:`~skillyard.serve.runtime.options.ServiceOptions`. A request passes
:mod:`.app` (guards, request id, log, metrics), is parsed by
:mod:`~skillyard.serve.runtime.fields`, handled by one function of :mod:`.routes`, and encoded by
:mod:`~skillyard.serve.runtime.encoding`; :mod:`skillyard.serve.web` renders the pages. Addresses
beyond this machine need a token.
"""
