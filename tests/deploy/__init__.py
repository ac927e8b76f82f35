"""The files of deploy/ and the commands of the guide to them: read, linted, and run."""
