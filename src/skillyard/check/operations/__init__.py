"""What ``check`` and ``scan`` do, one function each."""
