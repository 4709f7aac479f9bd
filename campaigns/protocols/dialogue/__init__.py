"""Open-domain dialogue."""
