"""What changes assignments and ratings: one verb, one transaction each."""
