"""The pages of the service: values of the use cases in, HTML out.

:mod:`.markup` is the one place where HTML is put together, and escapes whatever is not HTML
already; :mod:`.markdown` renders a skill's body by a list of allowed tags; the ``…_page`` modules
each make one page; :mod:`.layout` puts it in its frame and says what a browser may do with it.
Nothing here knows of requests or of a server, and no page needs a script or another host.
"""
