"""Backups: an installation's database, uploads and key in one file, and back. `installation` begins both."""
