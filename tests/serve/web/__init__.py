"""The pages: as HTML that is put together, over a real server, and in a real Chromium."""
