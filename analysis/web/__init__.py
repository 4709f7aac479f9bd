"""Pages, services and background work of the analysis: all that knows the database."""
