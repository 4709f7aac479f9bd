"""The shape of what researchers send to the pages of a crowd platform."""
