"""What a running service is made of, whatever it speaks."""
