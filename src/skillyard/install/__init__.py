"""What comes from elsewhere: sources, search, archives, lock files, policy, signatures."""
