"""What a worker's page shows and asks."""
