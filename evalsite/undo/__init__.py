"""Undo: what a researcher does can be taken back for a while, and is then not asked about before."""
