"""What the commands of ``eval`` and ``bench`` do."""
