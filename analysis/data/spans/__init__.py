"""Errors marked in outputs: reading and writing them, what they weigh, how far raters mark the same."""
