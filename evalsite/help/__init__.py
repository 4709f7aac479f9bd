"""The guides of docs/ as pages of the site."""
