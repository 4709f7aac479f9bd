"""The shape of what is sent to the pages."""
