"""Fluency of answers to questions on a text."""
