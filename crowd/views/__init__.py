"""Pages on which researchers publish, watch and pay."""
