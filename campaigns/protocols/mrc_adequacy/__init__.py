"""Adequacy of answers to questions on a text."""
