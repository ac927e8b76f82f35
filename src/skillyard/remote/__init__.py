"""Skills that come from elsewhere: sources that are asked, searches over them, and installing."""
