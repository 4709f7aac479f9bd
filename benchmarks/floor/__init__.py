"""The floor of `rating_cycle`: a view that reads one row, inserts one and renders a page of 5 KB."""
