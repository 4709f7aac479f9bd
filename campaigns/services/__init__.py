"""What changes campaigns: one verb, one transaction each."""
