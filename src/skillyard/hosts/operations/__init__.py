"""The operations of this wing: one function for each that several surfaces share."""
