"""Votes between two systems: reading them."""
