"""Other people's clients, each from its registry, against the surfaces as users start them."""
