"""The shape of what a researcher sends to the analysis pages."""
