"""What the templates of the set-up pages show."""
