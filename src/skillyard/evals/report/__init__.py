"""Reports of results: HTML, Markdown and JUnit."""
