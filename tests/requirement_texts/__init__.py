"""The wording of the requirements, one block a module; ``tests/requirements.py`` reads them."""
