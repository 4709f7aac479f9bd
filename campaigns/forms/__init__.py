"""The shape of what a researcher sends to the set-up pages."""
