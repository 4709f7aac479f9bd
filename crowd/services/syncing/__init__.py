"""What the platform says, and what follows from it here."""
