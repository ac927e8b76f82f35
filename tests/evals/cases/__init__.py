"""The files that people write for evaluations: what is read, refused, proposed and shipped."""
