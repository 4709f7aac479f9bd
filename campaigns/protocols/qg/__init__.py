"""Question generation."""
