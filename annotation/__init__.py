"""What a worker does."""
