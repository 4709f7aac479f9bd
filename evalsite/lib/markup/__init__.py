"""Texts with markup as HTML that cannot do harm: code, formulas, Markdown, and what is left of HTML."""
