"""Where the numbers and the table of `hybrid` come from. See README.md."""
