"""Results for people and for machines that watch them: HTML, Markdown, JUnit, GitHub."""
