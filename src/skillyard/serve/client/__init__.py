"""The client of the HTTP service, synchronous or asynchronous.

A call describes one request (:mod:`.calls`). A response is parsed strictly (:mod:`.call`) into
the document that every surface of skillyard writes (:mod:`skillyard.base.shapes`), or raises an
error of the ``SkillyardError`` tree. The two clients in :mod:`.client` add the connection.
httpx2, the extra ``remote``, loads when a client is made.
"""

from skillyard.serve.client.call import SourcesFailed
from skillyard.serve.client.client import AsyncClient, Client, as_skill

__all__ = ["AsyncClient", "Client", "SourcesFailed", "as_skill"]
