"""The HTML pages of the service, rendered from values of the use cases.

``templates`` has one Jinja2 template for each page; :mod:`.rendering` escapes every value in them,
and holds the Content-Security-Policy. :mod:`.markdown` renders a skill's body with a list of
allowed tags. This package does not depend on requests or a server, and no page needs a script or
another host.
"""
