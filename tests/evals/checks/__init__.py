"""The four layers: what they ask, in which order, and what they make of the answers."""
