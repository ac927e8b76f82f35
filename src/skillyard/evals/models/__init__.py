"""Language models, called through their providers' own libraries behind one protocol."""
