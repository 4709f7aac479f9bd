"""Degraded."""
