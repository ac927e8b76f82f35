"""The client against a real service, against servers that lie, and its parsers on their own."""
