"""Model access: adapters over the makers' libraries, limits, prices and failures."""
