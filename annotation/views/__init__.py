"""The pages of workers, and those of researchers who watch them."""
