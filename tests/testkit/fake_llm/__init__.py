"""The stand-in for model providers."""
