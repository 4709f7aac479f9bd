"""What every app may use and nothing in it knows of any app."""
