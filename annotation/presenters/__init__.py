"""What pages show, in the words and shapes of their templates."""
