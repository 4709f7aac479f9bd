"""Pages on which researchers publish, look and pay."""
