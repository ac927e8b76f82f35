"""Tests of installing skills: paths, archives, look-alike names."""
