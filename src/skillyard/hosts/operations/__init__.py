"""What is chosen or said on this machine: select, inject, index, trust, feedback, usage."""
