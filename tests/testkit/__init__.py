"""The stand-in for skills.sh, GitHub and a well-known site."""
