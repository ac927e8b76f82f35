"""Install skills in a way that is compatible with ``npx skills`` on the same project."""
