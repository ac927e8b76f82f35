"""Reports of results: HTML, Markdown, JUnit and GitHub."""
