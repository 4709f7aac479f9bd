"""Addresses of the worker pages and of the monitoring pages."""
