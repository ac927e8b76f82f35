"""The HTML pages of the service, rendered from values of the use cases.

:mod:`.markup` is the only module that builds HTML, and escapes everything that is not HTML already.
:mod:`.markdown` renders a skill's body with a list of allowed tags. Each ``…_page`` module renders
one page, and :mod:`.layout` adds the frame and the Content-Security-Policy. This package does not
depend on requests or a server, and no page needs a script or another host.
"""
