"""Invited raters: lists of them, their links, what they are asked."""
