"""An example of a skillyard plugin: one scorer and one source, found through entry points."""
