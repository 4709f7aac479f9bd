"""Reading from the database; access first."""
