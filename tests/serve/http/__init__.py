"""The HTTP service, asked over real sockets on loopback."""
