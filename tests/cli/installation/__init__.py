"""The operations on installed skills that stop, run beside each other, and fail."""
