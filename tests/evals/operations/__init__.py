"""What may be compared with a baseline, and what may become one."""
