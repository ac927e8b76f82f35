"""skills.sh: the routes of its command line, the documented ``/api/v1``, and what they list."""
