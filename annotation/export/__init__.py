"""What workers left, as rows and files."""
