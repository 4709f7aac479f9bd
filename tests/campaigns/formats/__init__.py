"""Formats: what fields and outputs are."""
