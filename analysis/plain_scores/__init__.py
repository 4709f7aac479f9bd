"""Scores of outputs as they were given, without z scores or worker tests: reading them."""
