"""What changes ratings files and analysis runs: one verb, one transaction each."""
