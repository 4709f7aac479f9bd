"""Rankings, and choices of the best and the worst: reading them."""
