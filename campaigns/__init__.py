"""What a researcher configures."""
