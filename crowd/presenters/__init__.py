"""What the pages of a crowd platform show."""
