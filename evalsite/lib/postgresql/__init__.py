"""The database engine of PostgreSQL, as settings name it."""
