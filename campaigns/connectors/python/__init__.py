"""Python class."""
