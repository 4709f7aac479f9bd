"""Amazon Mechanical Turk."""
