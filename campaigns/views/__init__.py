"""The set-up pages, a module for each noun."""
